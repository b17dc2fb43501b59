uniform sampler2D u_picture;
in vec2 v_uv;
out vec4 out_color;

void main() {
    out_color = texture(u_picture, v_uv);
}
