#include "light.glsl"
in vec3 v_towards;
out vec4 out_color;

void main() {
#ifdef GATHERED
    out_color = vec4(sky_towards(v_towards), 0.0);
#else
    // half a step of noise hides the bands of an 8-bit gradient; the same at every drawing (Jimenez 2014)
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
    out_color = vec4(sky_towards(v_towards) + noise / 255.0, 1.0);
#endif
}
