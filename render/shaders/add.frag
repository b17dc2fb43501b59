uniform sampler2D u_picture;
out vec4 out_color;

void main() {
    out_color = texelFetch(u_picture, ivec2(gl_FragCoord.xy), 0);
}
