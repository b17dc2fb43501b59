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
    float sun = max(dot(n, u_sun), 0.0) * lit_at(v_position, n);
    vec3 halfway = normalize(u_sun + normalize(u_eye - v_position));
    float gleam = max(dot(n, halfway), 0.0);
    gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam;  // to the 32nd
    vec3 light = light_on(albedo, n, sun) + 0.09 * gleam * sun * u_sun_light;
    out_color = vec4(to_display(light), 1.0);
}
