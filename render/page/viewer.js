// The replay in a report: draws the recorded poses with three.js, to be orbited and scrubbed without a network.
// Data: what render/web/replay.py makes. Bundled into viewer.min.js by `python tools/bundle_viewer.py`.
import {
  BufferAttribute, BufferGeometry, CanvasTexture, Color, DirectionalLight, Fog, Group, HemisphereLight,
  LinearMipmapLinearFilter, LineBasicMaterial, LineSegments, Mesh, MeshLambertMaterial, NeutralToneMapping, PCFShadowMap, PerspectiveCamera,
  PlaneGeometry, Quaternion, RepeatWrapping, SRGBColorSpace, Scene, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const floats = (text) => new Float32Array(bytes(text));

export function start(place, data) {
  const renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.toneMapping = NeutralToneMapping;
  renderer.toneMappingExposure = 1.2;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  place.querySelector(".canvas").append(renderer.domElement);

  const scene = new Scene();
  scene.background = new Color(data.planes.length ? "#dfe6ec" : "#b9c5d0");
  const camera = new PerspectiveCamera(data.camera.fov, 16 / 9, 0.01 * data.camera.distance, 400 * data.camera.distance);
  camera.up.set(0, 0, 1);
  camera.position.fromArray(data.camera.position);
  const controls = new OrbitControls(camera, renderer.domElement);
  controls.target.fromArray(data.camera.target);
  controls.update();

  scene.add(new HemisphereLight("#e6edf6", "#a8a39c", 1.9));
  const sun = new DirectionalLight("#fff6e8", 2.3);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.bias = -0.0008;
  sun.shadow.normalBias = 0.002 * data.camera.distance;
  const reach = data.reach;
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, bottom: -reach, top: reach, near: 0.1 * reach, far: 8 * reach });
  sun.target.position.fromArray(data.middle);
  sun.position.fromArray(data.middle).add(new Vector3(-0.62, -0.34, 0.86).multiplyScalar(4 * reach));
  scene.add(sun, sun.target);

  const geometries = data.meshes.map(geometry);
  const bodies = data.bodies.map((body) => {
    const group = new Group();
    const color = new Color(body.color);
    for (const part of body.parts) {
      const { surface, edges } = geometries[part.mesh];
      const things = [];
      if (surface) {
        const mesh = new Mesh(surface, new MeshLambertMaterial({ color, vertexColors: true, polygonOffset: true, polygonOffsetFactor: 1.2, polygonOffsetUnits: 1 }));
        mesh.castShadow = mesh.receiveShadow = true;
        things.push(mesh);
      }
      if (edges) things.push(new LineSegments(edges, new LineBasicMaterial({ color: color.clone().multiplyScalar(0.25) })));
      for (const thing of things) {
        thing.scale.fromArray(part.scale);
        thing.position.fromArray(part.position);
        thing.quaternion.set(part.orientation[1], part.orientation[2], part.orientation[3], part.orientation[0]);
        group.add(thing);
      }
    }
    scene.add(group);
    return group;
  });
  for (const plane of data.planes) bodies[plane.body].add(floor(plane, data.square));
  if (data.planes.length) scene.fog = new Fog(scene.background, 4 * data.camera.distance, 40 * data.camera.distance);

  const times = floats(data.times), poses = floats(data.poses), n = data.bodies.length;
  const a = new Vector3(), b = new Vector3(), p = new Quaternion(), q = new Quaternion();
  const first = times[0], last = times[times.length - 1];
  let now = first, playing = false, clock = 0;

  const slider = place.querySelector("input"), button = place.querySelector("button"), speed = place.querySelector("select");
  const label = place.querySelector("output");
  slider.min = first;
  slider.max = last;
  slider.step = (last - first) / 2000 || 1;

  function seek(t) {
    now = Math.min(Math.max(t, first), last);
    let i = 0, high = times.length - 1;
    while (high - i > 1) {
      const middle = (i + high) >> 1;
      if (times[middle] <= now) i = middle; else high = middle;
    }
    const s = high > i && times[high] > times[i] ? (now - times[i]) / (times[high] - times[i]) : 0;
    for (let k = 0; k < n; k++) {
      const u = 7 * (i * n + k), v = 7 * (high * n + k);
      bodies[k].visible = !Number.isNaN(poses[u]) && !Number.isNaN(poses[v]);  // until it is removed
      if (!bodies[k].visible) continue;
      bodies[k].position.copy(a.fromArray(poses, u).lerp(b.fromArray(poses, v), s));
      p.set(poses[u + 4], poses[u + 5], poses[u + 6], poses[u + 3]);
      q.set(poses[v + 4], poses[v + 5], poses[v + 6], poses[v + 3]);
      bodies[k].quaternion.copy(p.slerp(q, s));
    }
    slider.value = now;
    label.textContent = `t = ${now.toFixed(3)} s`;
    place.dataset.time = now;
    draw();
  }

  function draw() {
    renderer.render(scene, camera);
  }

  function play(on) {
    playing = on;
    button.textContent = on ? "Pause" : "Play";
    if (on) {
      if (now >= last) seek(first);
      clock = performance.now();
      requestAnimationFrame(turn);
    }
  }

  function turn(at) {
    if (!playing) return;
    const passed = Math.max(at - clock, 0) / 1000;
    clock = at;
    seek(now + passed * Number(speed.value));
    if (now >= last) play(false); else requestAnimationFrame(turn);
  }

  function resize() {
    const width = place.clientWidth, height = Math.round((width * 9) / 16);
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    renderer.setSize(width, height);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    draw();
  }

  slider.addEventListener("input", () => { play(false); seek(Number(slider.value)); });
  button.addEventListener("click", () => play(!playing));
  controls.addEventListener("change", draw);
  window.addEventListener("resize", resize);
  place.addEventListener("keydown", (event) => {
    if (event.key === " " && event.target !== button) { event.preventDefault(); play(!playing); }
  });
  resize();
  seek(first);
  place.dataset.ready = "yes";
  return { seek, time: () => now, position: (k) => bodies[k].position.toArray(), camera: () => camera.position.toArray() };
}

function geometry(mesh) {
  const out = {};
  if (mesh.triangles) {
    out.surface = new BufferGeometry();
    out.surface.setAttribute("position", new BufferAttribute(floats(mesh.points), 3));
    out.surface.setAttribute("normal", new BufferAttribute(floats(mesh.normals), 3));
    out.surface.setAttribute("color", new BufferAttribute(mesh.colors ? floats(mesh.colors) : greys(floats(mesh.tones)), 3));
    out.surface.setIndex(new BufferAttribute(new Uint32Array(bytes(mesh.triangles)), 1));
  }
  if (mesh.edges) {
    out.edges = new BufferGeometry();
    out.edges.setAttribute("position", new BufferAttribute(floats(mesh.edges), 3));
  }
  return out;
}

function greys(tones) {
  const colors = new Float32Array(3 * tones.length);
  tones.forEach((tone, i) => colors.fill(tone, 3 * i, 3 * i + 3));
  return colors;
}

function floor(plane, square) {
  // squares of a round size; the texture holds four
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 128;
  const draw = canvas.getContext("2d");
  draw.fillStyle = "#b3b8be";
  draw.fillRect(0, 0, 128, 128);
  draw.fillStyle = "#a2a8af";
  draw.fillRect(0, 0, 64, 64);
  draw.fillRect(64, 64, 64, 64);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.anisotropy = 8;
  const size = 800 * square;
  texture.repeat.set(400, 400);
  const mesh = new Mesh(new PlaneGeometry(size, size), new MeshLambertMaterial({ map: texture }));
  mesh.receiveShadow = true;
  const normal = new Vector3(...plane.normal);
  mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
  mesh.position.copy(normal).multiplyScalar(plane.offset);
  return mesh;
}

window.tumble = { start };
