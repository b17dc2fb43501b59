// Flat faces: light is the same all over a face but for shadow and gleam, so corners work it out, in the sun and in shade.
#include "body.glsl"
#include "shadow.glsl"
#include "light.glsl"
#ifdef CORNERS
#include "open.glsl"
out float v_hidden;
#endif
uniform mat4 u_view_projection;
flat out vec3 v_in_sun;
flat out vec3 v_in_shade;
flat out vec3 v_gleam;    // what the full gleam adds
flat out vec2 v_rise;     // of the sun over the face; of the eye, m
out vec3 v_towards;       // the eye
out vec3 v_shadow;
#ifdef OCCLUDED
flat out vec3 v_facing;
#endif

void main() {
    vec3 p = i_position + turned(in_position * i_scale);
    vec3 n = normalize(turned(in_normal / i_scale));
    v_towards = u_eye - p;
    v_rise = vec2(dot(n, u_sun), dot(n, v_towards));
    float sun = max(v_rise.x, 0.0);
    vec3 light = light_on(i_color.rgb, n, sun);
    v_in_shade = to_display(light_on(i_color.rgb, n, 0.0));
    v_in_sun = to_display(light);
    v_gleam = to_display(light + GLEAM * sun * u_sun_light) - v_in_sun;
    v_shadow = in_shadow_map(p, n);
#ifdef OCCLUDED
    v_facing = n;
#endif
#ifdef CORNERS
    v_hidden = 1.0 - open_at(p, n);
#endif
    gl_Position = u_view_projection * vec4(p, 1.0);
}
