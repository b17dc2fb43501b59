// A plane without end: a checker of known size, averaged over each pixel in closed form, fading into the horizon.
#include "light.glsl"
uniform vec3 u_normal;
uniform vec3 u_dark;
uniform vec3 u_light;
uniform vec2 u_phase;   // offset of the pattern, in squares
uniform float u_square; // m
uniform float u_fade;   // distance over which it fades, m
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
    vec3 albedo = mix(u_dark, u_light, checker(p, w));
    albedo = mix(albedo, 1.45 * u_light, 0.55 * lines(p, w, 0.012));
    albedo = mix(albedo, 1.9 * u_light, 0.65 * lines(p * 0.1, w * 0.1, 0.0022));
    vec3 towards = v_position - u_eye;
    float away = length(v_position) / u_fade;
    float haze = 1.0 - exp(-away * away);
    vec3 normal = dot(towards, u_normal) > 0.0 ? -u_normal : u_normal;
    vec3 color = haze > 0.995 ? vec3(0.0) : to_display(light_on(albedo, v_position, normal, 0.0));
    bool below = dot(towards, u_normal) > 0.0;  // seen from inside the ground: a veil, so that what is above still shows
    out_color = vec4(mix(color, sky_towards(towards), haze), below ? 0.35 : 1.0);
}
