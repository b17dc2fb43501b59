// Bodies seen from above, at their heights: 0 to 1 over the map.
#include "body.glsl"
uniform vec4 u_over;
uniform float u_low;
out vec2 v_heights;  // top and bottom

void main() {
    vec3 p = i_position + turned(in_position * i_scale);
    v_heights = vec2(p.z - u_low, p.z - u_low) * u_over.w;
#ifdef EVEN
    v_heights.y = 2.0 * (i_position.z - u_low) * u_over.w - v_heights.x;  // as far below the middle as the top is above
#endif
    gl_Position = vec4(2.0 * (p.xy - u_over.xy) * u_over.z - 1.0, 0.0, 1.0);
}
