uniform float u_width;
uniform float u_exposure;
noperspective in float v_across;
flat in vec4 v_color;
out vec4 out_color;

void main() {
    float cover = clamp(0.5 * u_width + 0.5 - abs(v_across), 0.0, 1.0);
    vec3 x = v_color.rgb * u_exposure;
    out_color = vec4(pow(x, vec3(1.0 / 2.2)), v_color.a * cover);
}
