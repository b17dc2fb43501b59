// Rapier, by its build for the web, with its default solver. Arguments are those of node_engine.py.

import RAPIER from "@dimforge/rapier3d-compat";
import { serve } from "./lines.mjs";

await RAPIER.init();

const vector = ([x, y, z]) => ({ x, y, z });
const UP = vector([0, 0, 1]);

class Engine {
  constructor(gravity, dt) {
    this.world = new RAPIER.World(vector(gravity));
    this.world.timestep = dt;
    this.bodies = [];
  }

  free() {
    this.world.free();
  }

  floor(mu, e) {
    this.world.createCollider(this.made_of(new RAPIER.ColliderDesc(new RAPIER.HalfSpace(UP)), mu, e));
  }

  wall(mu, e, normal, offset) {
    const shape = new RAPIER.ColliderDesc(new RAPIER.HalfSpace(vector(normal)));
    this.world.createCollider(this.made_of(shape.setTranslation(...normal.map((n) => n * offset)), mu, e));
  }

  // its fields lie in x and z, with y up: rows along z; turned so that y is up along z
  field(mu, e, heights, cell) {
    const [n, m] = [heights.length, heights[0].length];
    const columns = new Float32Array(heights.flatMap((row) => row.toReversed()));
    const size = { x: cell * (n - 1), y: 1, z: cell * (m - 1) };
    const turn = { x: Math.SQRT1_2, y: 0, z: 0, w: Math.SQRT1_2 };
    this.world.createCollider(this.made_of(RAPIER.ColliderDesc.heightfield(m - 1, n - 1, columns, size).setRotation(turn), mu, e));
  }

  // with its remedy against inner edges
  mesh(mu, e, vertices, triangles) {
    const flags = RAPIER.TriMeshFlags.FIX_INTERNAL_EDGES;
    const shape = RAPIER.ColliderDesc.trimesh(new Float32Array(vertices), new Uint32Array(triangles), flags);
    this.world.createCollider(this.made_of(shape, mu, e));
  }

  box(half, ...body) {
    this.add(RAPIER.ColliderDesc.cuboid(...half), ...body);
  }

  sphere(radius, ...body) {
    this.add(RAPIER.ColliderDesc.ball(radius), ...body);
  }

  // its axis is y
  capsule([radius, half], ...body) {
    const turn = { x: Math.SQRT1_2, y: 0, z: 0, w: Math.SQRT1_2 };
    this.add(RAPIER.ColliderDesc.capsule(half, radius).setRotation(turn), ...body);
  }

  add(collider, mass, mu, e, x, [w, i, j, k], v, spin) {
    const body = RAPIER.RigidBodyDesc.dynamic()
      .setTranslation(...x)
      .setRotation({ x: i, y: j, z: k, w })
      .setLinvel(...v)
      .setAngvel(vector(spin))
      .setCanSleep(false); // and there is no damping
    this.bodies.push(this.world.createRigidBody(body));
    this.world.createCollider(this.made_of(collider.setMass(mass), mu, e), this.bodies.at(-1));
  }

  // of two colliders it takes the mean
  made_of(collider, mu, e) {
    return collider.setFriction(mu).setRestitution(e);
  }

  step(n) {
    for (let k = 0; k < n; k++) this.world.step();
  }

  state() {
    return this.bodies.map((body) => {
      const [x, q, v, w] = [body.translation(), body.rotation(), body.linvel(), body.angvel()];
      return [x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z];
    });
  }
}

serve(Engine, RAPIER);
