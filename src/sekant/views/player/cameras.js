// Cameras that move with a body: behind it, in it, above it.

const CAMERAS = ["chase", "on board", "top"];
const G = 9.81; // m/s^2: one g
const BACK = 1.9; // lengths of the body, from it to the camera behind it
const ABOVE = 10; // lengths of the body, to the camera above it
const [EYE_NEAR, NEAR] = [0.025, 0.15]; // of its length: near planes of the rider's and of other cameras

// `body`: position and turn, of its frame in W, `behind`: its turn a moment ago; length (m); `eyes`: their pose in it.
function goAlong(camera, name, body, up) {
  const { position, turn, behind, length, eyes } = body;
  const axis = (x, y, z, by) => new L.Vector3(x, y, z).applyQuaternion(by);
  if (name === "on board") {
    const own = turn.clone().multiply(eyes.turn);
    camera.position.copy(eyes.position).applyQuaternion(turn).add(position);
    camera.up.copy(axis(0, 0, 1, own));
    camera.lookAt(axis(1, 0, 0, own).add(camera.position));
  } else if (name === "top") {
    const ahead = axis(1, 0, 0, behind).projectOnPlane(up);
    camera.position.copy(position).addScaledVector(up, ABOVE * length);
    camera.up.copy(ahead.lengthSq() > 1e-6 ? ahead.normalize() : axis(0, 0, 1, behind));
    camera.lookAt(position);
  } else {
    const forward = axis(1, 0, 0, behind);
    const distance = BACK * length;
    camera.up.copy(axis(0, 0, 1, behind));
    camera.position.copy(position).addScaledVector(forward, -distance).addScaledVector(camera.up, 0.3 * distance);
    camera.lookAt(position.clone().addScaledVector(forward, 0.6 * distance));
  }
  camera.updateMatrixWorld();
}

// Constants of a camera: its field of view and its near plane.
function setLens(camera, name, length, far) {
  camera.fov = name === "on board" ? 62 : 42;
  camera.near = (name === "on board" ? EYE_NEAR : NEAR) * length;
  camera.far = far;
  camera.updateProjectionMatrix();
}
