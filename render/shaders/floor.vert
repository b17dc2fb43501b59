#include "shadow.glsl"
in vec2 in_corner;
uniform mat4 u_view_projection;
uniform vec3 u_middle;
uniform vec3 u_axis_a;
uniform vec3 u_axis_b;
uniform vec3 u_normal;   // towards the eye
uniform float u_reach;
uniform float u_square;  // m
uniform vec2 u_phase;    // offset of the pattern, in squares
out vec3 v_position;
out vec2 v_plane;        // in squares
out vec3 v_shadow;
#ifdef GATHERED
out vec3 v_sky;
#endif

void main() {
    vec2 p = u_reach * in_corner;
    v_plane = p / u_square + u_phase;
    v_position = u_middle + p.x * u_axis_a + p.y * u_axis_b;
    v_shadow = in_shadow_map(v_position, u_normal);
#ifdef GATHERED
    v_sky = in_sky_map(v_position, u_normal);
#endif
    gl_Position = u_view_projection * vec4(v_position, 1.0);
}
