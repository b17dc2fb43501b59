// Bodies seen from above, at their heights: 0 to 1 over the map.
#include "body.glsl"
uniform vec4 u_over;
uniform float u_low;
out float v_height;

void main() {
    vec3 p = i_position + turned(in_position * i_scale);
    v_height = (p.z - u_low) * u_over.w;
    gl_Position = vec4(2.0 * (p.xy - u_over.xy) * u_over.z - 1.0, 0.0, 1.0);
}
