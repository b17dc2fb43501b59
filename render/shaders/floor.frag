// A plane without end: a checker of known size, averaged over each pixel in closed form, fading into the horizon. All of it
// faces the sun alike, so its few colours come ready for display: dark and light squares and lines, in the sun and in shade.
#include "light.glsl"
uniform vec3 u_normal;
uniform vec3 u_in_sun[3];
uniform vec3 u_in_shade[3];
uniform vec2 u_phase;    // offset of the pattern, in squares
uniform float u_square;  // m
uniform float u_fade;    // distance over which it fades, m
in vec3 v_position;
in vec2 v_plane;
out vec4 out_color;

// Mean of a checker over a box of width w (Quilez, "box filtering")
float checker(vec2 p, vec2 w) {
    vec2 i = 2.0 * (abs(fract((p - 0.5 * w) * 0.5) - 0.5) - abs(fract((p + 0.5 * w) * 0.5) - 0.5)) / w;
    return 0.5 - 0.5 * i.x * i.y;
}

// Mean of thin lines at whole numbers over a box of width w
float lines(vec2 p, vec2 w, float half_width) {
    vec2 d = abs(fract(p - 0.5) - 0.5);
    vec2 wide = max(vec2(half_width), 0.5 * w);
    vec2 cover = clamp((wide + 0.5 * w - d) / w, 0.0, 1.0) * (half_width / wide);
    return max(cover.x, cover.y);
}

void main() {
    vec2 p = v_plane / u_square + u_phase;
    vec2 w = fwidth(p) + 1e-6;
    vec3 towards = v_position - u_eye;
    bool below = dot(towards, u_normal) > 0.0;  // seen from inside the ground: a veil, so that what is above still shows
    float light_square = checker(p, w);
#if TAPS == 1
    float line = 0.0;
#else
    float line = 0.5 * lines(p, w, 0.012);
#endif
    line = max(line, lines(p * 0.1, w * 0.1, 0.0022));
#ifdef PLAIN
    float sun = 1.0;
#else
    float sun = lit_at(v_position, below ? -u_normal : u_normal);
#endif
    vec3 in_sun = mix(mix(u_in_sun[0], u_in_sun[1], light_square), u_in_sun[2], line);
    vec3 in_shade = mix(mix(u_in_shade[0], u_in_shade[1], light_square), u_in_shade[2], line);
    float clear = 1.0 / (1.0 + dot(v_position, v_position) / (u_fade * u_fade));
    out_color = vec4(mix(sky_towards(towards), mix(in_shade, in_sun, sun), clear * clear), below ? 0.35 : 1.0);
}
