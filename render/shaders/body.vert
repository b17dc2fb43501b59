#include "body.glsl"
uniform mat4 u_view_projection;
out vec3 v_position;
out vec3 v_normal;
out vec3 v_local;
flat out vec3 v_color;

void main() {
    v_local = in_position;
    v_position = i_position + turned(in_position * i_scale);
    v_normal = turned(in_normal / i_scale);
    v_color = i_color.rgb;
    gl_Position = u_view_projection * vec4(v_position, 1.0);
}
