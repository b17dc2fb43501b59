#include "light.glsl"
uniform float u_pattern;  // albedo of every other octant
in vec3 v_position;
in vec3 v_normal;
in vec3 v_local;
in vec3 v_shadow;
flat in vec3 v_color;
out vec4 out_color;

void main() {
    // octants, their borders filtered over one pixel
    vec3 side = clamp(v_local / max(fwidth(v_local), 1e-9), -1.0, 1.0);
    vec3 albedo = v_color * mix(u_pattern, 1.0, 0.5 + 0.5 * side.x * side.y * side.z);
    vec3 n = normalize(v_normal);
    float sun = max(dot(n, u_sun), 0.0) * lit_at(v_shadow);
    vec3 light = light_on(albedo, n, sun) + gleam_of(n, u_eye - v_position) * sun * u_sun_light;
    out_color = vec4(to_display(light), 1.0);
}
