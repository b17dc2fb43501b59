in float v_height;
out vec4 out_color;

void main() {
    out_color = vec4(1.0, v_height, 1.0 - v_height, 1.0);  // the largest of each stays
}
