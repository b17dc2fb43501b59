// How much of the sky is open over a level floor, once for all its pixels.
#include "open.glsl"
uniform float u_level;  // m
in vec2 v_uv;
out vec4 out_color;

void main() {
    out_color = vec4(open_at(vec3(u_over.xy + v_uv / u_over.z, u_level), vec3(0.0, 0.0, 1.0)));
}
