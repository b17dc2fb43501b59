// Flat faces: light is the same all over a face but for shadow and gleam, so corners work it out, in the sun and in shade. Where
// faces are small in the picture, corners work out gleam and hidden sky too, and pixels look up the shadow only.
#include "body.glsl"
#include "shadow.glsl"
#include "light.glsl"
uniform mat4 u_view_projection;
out vec3 v_shadow;
#ifdef SMALL
#include "open.glsl"
out vec3 v_bright;        // as displayed in the sun, and in shade
out vec3 v_dark;
#else
flat out vec3 v_in_sun;
flat out vec3 v_in_shade;
flat out vec3 v_gleam;    // what the full gleam adds
flat out vec2 v_rise;     // of the sun over the face; of the eye, m
out vec3 v_towards;       // the eye
#ifdef OCCLUDED
flat out vec3 v_facing;
#endif
#endif

void main() {
    vec3 p = i_position + turned(in_position * i_scale);
    vec3 n = normalize(turned(in_normal / i_scale));
    vec3 towards = u_eye - p;
    float sun = max(dot(n, u_sun), 0.0);
    vec3 light = light_on(i_color.rgb, n, sun);
    vec3 in_shade = to_display(light_on(i_color.rgb, n, 0.0));
    v_shadow = in_shadow_map(p, n);
#ifdef SMALL
    v_bright = to_display(light + gleam_of(n, towards) * sun * u_sun_light);
    v_dark = in_shade;
#ifdef OCCLUDED
    float hidden = 1.0 - open_at(p, n);
    v_bright *= kept_of(hidden, sun);
    v_dark *= kept_of(hidden, 0.0);
#endif
#else
    v_towards = towards;
    v_rise = vec2(dot(n, u_sun), dot(n, towards));
    v_in_shade = in_shade;
    v_in_sun = to_display(light);
    v_gleam = to_display(light + GLEAM * sun * u_sun_light) - v_in_sun;
#ifdef OCCLUDED
    v_facing = n;
#endif
#endif
    gl_Position = u_view_projection * vec4(p, 1.0);
}
