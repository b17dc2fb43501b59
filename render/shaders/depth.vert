#include "body.glsl"
uniform mat4 u_sun_projection;

void main() {
    gl_Position = u_sun_projection * vec4(i_position + turned(in_position * i_scale), 1.0);
}
