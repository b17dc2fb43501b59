// Straight strokes between two points of the world, in pixels wide at each end: lines, arrow heads, trails, dots.
in vec2 in_corner;   // x: which end, 0 or 1; y: which side, -1 or 1
in vec3 i_a;
in vec3 i_b;
in vec2 i_width;
in vec4 i_color_a;
in vec4 i_color_b;
uniform mat4 u_view_projection;
uniform vec2 u_size;
noperspective out vec2 v_across;  // where, half width
noperspective out vec4 v_color;

void main() {
    vec4 a = u_view_projection * vec4(i_a, 1.0), b = u_view_projection * vec4(i_b, 1.0);
    a.w = max(a.w, 1e-6);
    b.w = max(b.w, 1e-6);
    vec2 along = (b.xy / b.w - a.xy / a.w) * u_size;
    float len = length(along);
    along = len > 1e-4 ? along / len : vec2(1.0, 0.0);
    float half_width = 0.5 * mix(i_width.x, i_width.y, in_corner.x);
    float reach = half_width + 0.5;
    vec4 p = mix(a, b, in_corner.x);
    vec2 shift = reach * in_corner.y * vec2(-along.y, along.x);
    if (len <= 1e-4) shift += half_width * (2.0 * in_corner.x - 1.0) * along;  // a dot is a square
    p.xy += 2.0 * shift / u_size * p.w;
    v_across = vec2(reach * in_corner.y, half_width);
    v_color = mix(i_color_a, i_color_b, in_corner.x);
    gl_Position = p;
}
