// The light of many pictures, summed up, as displayed.
#include "light.glsl"
uniform sampler2D u_picture;
uniform float u_part;  // 1 / their number
in vec2 v_uv;
out vec4 out_color;

void main() {
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;  // as in sky.frag
    out_color = vec4(tone(u_part * texture(u_picture, v_uv).rgb) + noise / 255.0, 1.0);
}
