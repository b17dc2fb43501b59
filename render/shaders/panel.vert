in vec2 in_corner;   // -1 to 1
uniform vec4 u_place; // left, top, width, height in pixels from the top left
uniform vec2 u_size;
out vec2 v_uv;

void main() {
    v_uv = 0.5 + 0.5 * in_corner;
    vec2 pixel = u_place.xy + v_uv * u_place.zw;
    gl_Position = vec4(2.0 * pixel.x / u_size.x - 1.0, 1.0 - 2.0 * pixel.y / u_size.y, 0.0, 1.0);
}
