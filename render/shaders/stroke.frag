noperspective in vec2 v_across;
noperspective in vec4 v_color;
out vec4 out_color;

void main() {
    out_color = vec4(v_color.rgb, v_color.a * clamp(v_across.y + 0.5 - abs(v_across.x), 0.0, 1.0));
}
