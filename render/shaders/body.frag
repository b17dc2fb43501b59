#include "light.glsl"
uniform float u_mark;  // albedo of the mark of spin
in vec3 v_position;
in vec3 v_normal;
in vec3 v_local;
in vec3 v_shadow;
flat in vec3 v_color;
out vec4 out_color;

void main() {
    vec3 albedo = v_color;
#ifndef UNMARKED
    // a stripe along one side and a dot on the other, their borders filtered over one pixel; as Mesh.marked
    vec3 w = max(fwidth(v_local), 1e-9);
    float stripe = clamp((0.09 - abs(v_local.y)) / w.y + 0.5, 0.0, 1.0) * clamp(v_local.x / w.x + 0.5, 0.0, 1.0);
    float dot_ = clamp((-0.975 - v_local.x) / w.x + 0.5, 0.0, 1.0);
    albedo *= mix(1.0, u_mark, max(stripe, dot_));
#endif
    vec3 n = normalize(v_normal);
    float sun = max(dot(n, u_sun), 0.0) * lit_at(v_shadow);
    vec3 light = light_on(albedo, n, sun) + gleam_of(n, u_eye - v_position) * sun * u_sun_light;
    out_color = vec4(to_display(light), 1.0);
}
