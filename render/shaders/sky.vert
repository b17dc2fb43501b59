in vec2 in_corner;
uniform vec3 u_forward;
uniform vec3 u_right;  // already as long as half the picture is wide at unit distance
uniform vec3 u_up;
out vec3 v_towards;

void main() {
    v_towards = u_forward + in_corner.x * u_right + in_corner.y * u_up;
    gl_Position = vec4(in_corner, 1.0, 1.0);
}
