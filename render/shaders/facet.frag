#include "light.glsl"
in vec3 v_shadow;
#ifdef SMALL
in vec3 v_bright;
in vec3 v_dark;
#else
#include "open.glsl"
flat in vec3 v_in_sun;
flat in vec3 v_in_shade;
flat in vec3 v_gleam;
flat in vec2 v_rise;
in vec3 v_towards;
#ifdef OCCLUDED
flat in vec3 v_facing;
#endif
#endif
out vec4 out_color;

void main() {
#ifdef SMALL
    out_color = vec4(mix(v_dark, v_bright, lit_on_small(v_shadow)), 1.0);
#else
    // as gleam_of, with the cosine squared: (n.s + n.t)^2 / |s + t|^2, t the unit vector towards the eye
    float away = inversesqrt(dot(v_towards, v_towards));
    float c = v_rise.x + v_rise.y * away;
    float gleam = c * c / (2.0 + 2.0 * away * dot(u_sun, v_towards));
    gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam;
    float lit = lit_at(v_shadow);
    vec3 color = mix(v_in_shade, v_in_sun + gleam * v_gleam, lit);
    OPEN(color, lit * max(v_rise.x, 0.0), u_eye - v_towards, v_facing);
    out_color = vec4(color, 1.0);
#endif
}
