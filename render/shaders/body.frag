#include "light.glsl"
uniform float u_pattern;  // 1: flat bodies; below: albedo of every other octant of a round one
in vec3 v_position;
in vec3 v_normal;
in vec3 v_local;
flat in vec3 v_color;
out vec4 out_color;

void main() {
    vec3 albedo = v_color;
    if (u_pattern < 1.0) {  // octants, their borders filtered over one pixel
        vec3 side = clamp(v_local / max(fwidth(v_local), 1e-9), -1.0, 1.0);
        albedo *= mix(u_pattern, 1.0, 0.5 + 0.5 * side.x * side.y * side.z);
    }
    vec3 n = normalize(v_normal);
    out_color = vec4(to_display(light_on(albedo, v_position, n, 0.10)), 1.0);
}
