uniform float u_width;
uniform float u_exposure;
flat in vec3 v_line;
flat in vec4 v_color;
out vec4 out_color;

void main() {
    float across = dot(v_line.xy, gl_FragCoord.xy) + v_line.z;
    float cover = clamp(0.5 * u_width + 0.5 - abs(across), 0.0, 1.0);
    out_color = vec4(sqrt(v_color.rgb * u_exposure), v_color.a * cover);  // dark: the root is near enough to sRGB
}
