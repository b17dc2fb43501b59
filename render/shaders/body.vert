#include "body.glsl"
#include "shadow.glsl"
uniform mat4 u_view_projection;
out vec3 v_position;
out vec3 v_normal;
out vec3 v_local;
out vec3 v_shadow;
flat out vec3 v_color;
#ifdef GATHERED
out vec3 v_sky;
#endif
#ifdef GLASS
flat out float v_radius;
#endif
#ifdef TEXTURED
in vec2 in_place;
out vec2 v_place;
#endif

void main() {
    v_local = in_position;
    v_position = i_position + turned(in_position * i_scale);
    v_normal = normalize(turned(in_normal / i_scale));
    v_shadow = in_shadow_map(v_position, v_normal);
#ifdef GATHERED
    v_sky = in_sky_map(v_position, v_normal);
#endif
#ifdef TEXTURED
    v_place = in_place;
#endif
#ifdef GLASS
    v_radius = i_color.w;
#endif
    v_color = i_color.rgb;
    gl_Position = u_view_projection * vec4(v_position, 1.0);
}
