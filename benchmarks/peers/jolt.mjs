// Jolt, by its build for the web (JoltPhysics.js), with its default solver. Arguments are those of node_engine.py.

import initJolt from "jolt-physics";
import { serve } from "./lines.mjs";

const Jolt = await initJolt();
const [STILL, MOVING] = [0, 1]; // layers

// what a function makes of objects of Jolt, which are freed after it
function using(make, ...objects) {
  const made = make(...objects);
  objects.forEach((object) => Jolt.destroy(object));
  return made;
}

class Engine {
  constructor(gravity, dt) {
    const pairs = new Jolt.ObjectLayerPairFilterTable(2);
    pairs.EnableCollision(STILL, MOVING);
    pairs.EnableCollision(MOVING, MOVING);
    const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
    for (const layer of [STILL, MOVING]) using((l) => layers.MapObjectToBroadPhaseLayer(layer, l), new Jolt.BroadPhaseLayer(layer));
    const settings = new Jolt.JoltSettings();
    settings.mObjectLayerPairFilter = pairs;
    settings.mBroadPhaseLayerInterface = layers;
    settings.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(layers, 2, pairs, 2);
    this.jolt = using((s) => new Jolt.JoltInterface(s), settings); // it frees the filters
    this.system = this.jolt.GetPhysicsSystem();
    using((g) => this.system.SetGravity(g), new Jolt.Vec3(...gravity));
    this.dt = dt;
    this.bodies = [];
  }

  free() {
    Jolt.destroy(this.jolt);
  }

  floor(mu, e) {
    this.wall(mu, e, [0, 0, 1], 0);
  }

  wall(mu, e, normal, offset) {
    const plane = using((n) => new Jolt.Plane(n, -offset), new Jolt.Vec3(...normal));
    const shape = using((p) => new Jolt.PlaneShapeSettings(p).Create().Get(), plane);
    this.add(shape, Jolt.EMotionType_Static, STILL, 0, mu, e, [0, 0, 0], [1, 0, 0, 0], [0, 0, 0], [0, 0, 0]);
  }

  box(half, ...body) {
    const radius = Math.min(0.05, ...half.map((h) => h / 2)); // of its edges: the default, or less where the box is thin
    const shape = using((h) => new Jolt.BoxShape(h, radius), new Jolt.Vec3(...half));
    this.bodies.push(this.add(shape, Jolt.EMotionType_Dynamic, MOVING, ...body));
  }

  sphere(radius, ...body) {
    this.bodies.push(this.add(new Jolt.SphereShape(radius), Jolt.EMotionType_Dynamic, MOVING, ...body));
  }

  // its axis is y
  capsule([radius, half], ...body) {
    const place = [new Jolt.Vec3(0, 0, 0), new Jolt.Quat(Math.SQRT1_2, 0, 0, Math.SQRT1_2)];
    const upright = new Jolt.CapsuleShapeSettings(half, radius);
    const shape = using((x, q) => new Jolt.RotatedTranslatedShapeSettings(x, q, upright).Create().Get(), ...place);
    this.bodies.push(this.add(shape, Jolt.EMotionType_Dynamic, MOVING, ...body));
  }

  add(shape, motion, layer, mass, mu, e, x, [w, i, j, k], v, spin) {
    const place = [new Jolt.RVec3(...x), new Jolt.Quat(i, j, k, w)];
    const settings = using((p, q) => new Jolt.BodyCreationSettings(shape, p, q, motion, layer), ...place);
    settings.mFriction = mu; // of a pair: the geometric mean
    settings.mRestitution = e; // the larger one
    settings.mLinearDamping = settings.mAngularDamping = 0;
    settings.mAllowSleeping = false;
    settings.mApplyGyroscopicForce = true; // else what turns freely keeps its angular velocity
    if (mass > 0) {
      settings.mOverrideMassProperties = Jolt.EOverrideMassProperties_CalculateInertia;
      settings.mMassPropertiesOverride.mMass = mass;
    }
    const bodies = this.system.GetBodyInterface();
    const body = using((s) => bodies.CreateBody(s), settings);
    bodies.AddBody(body.GetID(), Jolt.EActivation_Activate);
    using((a, b) => (body.SetLinearVelocity(a), body.SetAngularVelocity(b)), new Jolt.Vec3(...v), new Jolt.Vec3(...spin));
    return body;
  }

  step(n) {
    for (let k = 0; k < n; k++) this.jolt.Step(this.dt, 1);
  }

  state() {
    return this.bodies.map((body) => {
      const values = [];
      for (const get of ["GetPosition", "GetRotation", "GetLinearVelocity", "GetAngularVelocity"]) {
        const u = body[get](); // its place in memory is used again by the next call
        values.push(...(get === "GetRotation" ? [u.GetW()] : []), u.GetX(), u.GetY(), u.GetZ());
      }
      return values;
    });
  }
}

serve(Engine, Jolt);
