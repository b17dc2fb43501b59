// A plane without end: a checker of known size, averaged over each pixel in closed form, fading into the horizon. All of it
// faces the sun alike, so its few colours come ready for display: dark and light squares and lines, in the sun and in shade.
// Most pixels of most pictures come from here: divisions are few, and what is the same everywhere is a uniform.
#include "light.glsl"
#include "around.glsl"
#include "open.glsl"
uniform vec3 u_in_sun[3];
uniform vec3 u_in_shade[3];
uniform float u_haze;    // 1 / the square of the distance over which it fades, 1/m^2
uniform float u_cover;   // 1, or less for a veil, so that what is above still shows from inside the ground
in vec3 v_position;
in vec2 v_plane;
in vec3 v_shadow;
#if defined(GATHERED) || defined(OCCLUDED)
uniform vec3 u_normal;
#endif
#ifdef MAPPED
uniform sampler2D u_ground;    // how much of the sky is open, by the same map as the outlines
#endif
#ifdef GATHERED
uniform vec3 u_albedo[3];      // dark and light squares, lines
uniform sampler2D u_mirrored;  // the bodies as the floor mirrors them
uniform float u_mirrors;       // 1 where it does
in vec3 v_sky;
#endif
out vec4 out_color;

// Mean of a checker over a box of width w (Quilez, "box filtering")
float checker(vec2 p, vec2 w) {
    vec2 i = abs(fract(0.5 * p - 0.25 * w) - 0.5) - abs(fract(0.5 * p + 0.25 * w) - 0.5);
    return 0.5 - 2.0 * (i.x * i.y) / (w.x * w.y);
}

// Mean of thin lines at whole numbers over a box of width w: part of it that is covered by a line of width w or its own,
// whichever is more, times how much of that the line fills
float lines(vec2 p, vec2 w, float half_width) {
    vec2 d = abs(fract(p - 0.5) - 0.5);
    vec2 wide = max(vec2(half_width), 0.5 * w);
    vec2 cover = clamp(wide + 0.5 * w - d, vec2(0.0), w) / (w * wide);
    return half_width * max(cover.x, cover.y);
}

void main() {
    vec2 w = fwidth(v_plane) + 1e-6;
    float light_square = checker(v_plane, w);
    float line = lines(0.1 * v_plane, 0.1 * w, 0.0022);
#if defined(SOFT) || defined(GATHERED)
    line = max(line, 0.5 * lines(v_plane, w, 0.012));
#endif
#ifdef GATHERED
    vec3 albedo = mix(mix(u_albedo[0], u_albedo[1], light_square), u_albedo[2], line);
    vec3 color = light_from(albedo, u_normal, max(dot(u_normal, u_sun), 0.0) * lit_at(v_shadow), v_sky);
    vec3 back = normalize(u_eye - v_position);
    vec4 mirrored = texelFetch(u_mirrored, ivec2(gl_FragCoord.xy), 0);
    vec3 above = mix(around(reflect(-back, u_normal), 0.05), mirrored.rgb, mirrored.a);
    color = mix(color, above, u_mirrors * fresnel(dot(back, u_normal), 0.03));
#else
    vec3 color = mix(mix(u_in_sun[0], u_in_sun[1], light_square), u_in_sun[2], line);
#ifndef PLAIN
    vec3 in_shade = mix(mix(u_in_shade[0], u_in_shade[1], light_square), u_in_shade[2], line);
    float lit = lit_at(v_shadow);
    color -= (1.0 - lit) * (color - in_shade);  // not mix(): where it is lit, to the last bit as without shadows
#ifdef MAPPED
    color *= kept_of(1.0 - texture(u_ground, (v_position.xy - u_over.xy) * u_over.z).r, lit * max(u_sun.z, 0.0));
#else
    OPEN(color, lit * max(dot(u_normal, u_sun), 0.0), v_position, u_normal);
#endif
#endif
#endif
#ifdef LEVEL
    vec3 sky = u_horizon;
#else
    vec3 towards = v_position - u_eye;
    float up = max(towards.z, 0.0);  // as sky_towards: below the horizon, where there are floors, the sky is as at it
    vec3 sky = mix(u_horizon, u_zenith, up * up / (towards.z * towards.z + 0.04 * dot(towards, towards)));
#endif
    float clear = 1.0 + u_haze * dot(v_position, v_position);
    out_color = vec4(mix(sky, color, 1.0 / (clear * clear)), u_cover);
}
