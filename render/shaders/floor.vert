in vec2 in_corner;
uniform mat4 u_view_projection;
uniform vec3 u_middle;
uniform vec3 u_axis_a;
uniform vec3 u_axis_b;
uniform float u_reach;
out vec3 v_position;
out vec2 v_plane;

void main() {
    v_plane = u_reach * in_corner;
    v_position = u_middle + v_plane.x * u_axis_a + v_plane.y * u_axis_b;
    gl_Position = u_view_projection * vec4(v_position, 1.0);
}
