#include "light.glsl"
#include "around.glsl"
#include "open.glsl"
uniform float u_mark;  // albedo of the mark of spin
in vec3 v_position;
in vec3 v_normal;
in vec3 v_local;
in vec3 v_shadow;
flat in vec3 v_color;
#ifdef GATHERED
in vec3 v_sky;
#endif
#ifdef TEXTURED
uniform sampler2D u_skin;
in vec2 v_place;
#endif
#ifdef GLASS
uniform sampler2D u_picture;  // what is behind
uniform vec2 u_size;
uniform mat4 u_view_projection;
flat in float v_radius;
#endif
out vec4 out_color;

void main() {
    vec3 albedo = v_color;
#ifdef TEXTURED
    vec3 skin = texture(u_skin, v_place).rgb;
    albedo *= skin * (skin * (skin * 0.305306011 + 0.682171111) + 0.012522878);  // sRGB to light (Chilliant 2012)
#endif
#ifndef UNMARKED
    // a stripe along one side and a dot on the other, their borders filtered over one pixel; as Mesh.marked
    vec3 w = max(fwidth(v_local), 1e-9);
    float stripe = clamp((0.09 - abs(v_local.y)) / w.y + 0.5, 0.0, 1.0) * clamp(v_local.x / w.x + 0.5, 0.0, 1.0);
    float dot_ = clamp((-0.975 - v_local.x) / w.x + 0.5, 0.0, 1.0);
    float mark = max(stripe, dot_);
    albedo *= mix(1.0, u_mark, mark);
#endif
    vec3 n = normalize(v_normal), towards = normalize(u_eye - v_position);
    float lit = lit_at(v_shadow), sun = max(dot(n, u_sun), 0.0) * lit;
#ifdef GATHERED
#define LIGHT_ON(albedo, n, sun) light_from(albedo, n, sun, v_sky)
#else
#define LIGHT_ON(albedo, n, sun) light_on(albedo, n, sun)
#endif
#if defined(MATTE)
    // rough as chalk: light comes back where it came from (Oren and Nayar 1994, in the form of Fujii)
    float facing = max(dot(n, towards), 0.0), cosine = max(dot(n, u_sun), 0.0), s = dot(u_sun, towards) - cosine * facing;
    vec3 light = LIGHT_ON(albedo, n, sun * (0.78 + 0.4 * s / (s > 0.0 ? max(max(cosine, facing), 0.05) : 1.0)));
#elif defined(RUBBER)
    // a dark ground, a wide dull gleam, and a sheen where it turns away
    float away = 1.0 - max(dot(n, towards), 0.0), gleam = max(dot(n, normalize(u_sun + towards)), 0.0);
    gleam *= gleam; gleam *= gleam; gleam *= gleam;
    vec3 light = LIGHT_ON(0.62 * albedo, n, sun) + 0.07 * gleam * sun * u_sun_light;
    light += LIGHT_ON(vec3(0.16 * away * away * away), n, 0.0);
#elif defined(METAL)
    // no light comes from below the surface: all is mirrored, in the metal's colour, white where it turns away
    float cosine = max(dot(n, towards), 0.0), gleam = max(dot(n, normalize(u_sun + towards)), 0.0);
    gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam;
    vec3 tint = mix(0.12 + 0.88 * albedo, vec3(1.0), fresnel(cosine, 0.0));
    vec3 mirrored = around(reflect(-towards, n), 0.12);
    vec3 light = tint * (0.62 * mirrored + 0.9 * gleam * lit * u_sun_light) + LIGHT_ON(0.22 * tint, n, sun);
#elif defined(GLASS)
    // what is behind, moved by the turn of the surface and tinted; and what the surface mirrors
    float cosine = max(dot(n, towards), 0.0), gleam = max(dot(n, normalize(u_sun + towards)), 0.0), share = fresnel(cosine, 0.045);
    gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam;
    vec3 through = refract(-towards, n, 1.0 / 1.45);
    vec4 beyond = u_view_projection * vec4(v_position + 0.6 * v_radius * through, 1.0);
    vec2 at = clamp(0.5 + 0.5 * beyond.xy / max(beyond.w, 1e-6), 0.5 / u_size, 1.0 - 0.5 / u_size);
    vec3 seen = texture(u_picture, at).rgb;
    vec3 tint = mix(vec3(1.0), sqrt(albedo), 0.35 + 0.45 * (1.0 - cosine));
    vec3 light = share * around(reflect(-towards, n), 0.03) + 3.0 * gleam * lit * u_sun_light + LIGHT_ON(0.04 * albedo, n, sun);
#else
    vec3 light = LIGHT_ON(albedo, n, sun) + gleam_of(n, u_eye - v_position) * sun * u_sun_light;
#endif
    vec3 color = to_display(light);
#ifdef GLASS
#ifdef GATHERED
    color += (1.0 - share) * tint * seen;
#else
    vec3 clear = (1.0 - share) * sqrt(tint) * seen;
    color = clear + color * (1.0 - clear);  // as displayed: never brighter than white
#endif
#else
    OPEN(color, lit * max(dot(n, u_sun), 0.0), v_position, n);
#endif
    out_color = vec4(color, 1.0);
}
