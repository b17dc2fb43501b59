in vec2 v_heights;
out vec4 out_color;

void main() {
    out_color = vec4(1.0, v_heights.x, 1.0 - v_heights.y, 1.0);  // the largest of each stays
}
