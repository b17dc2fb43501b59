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

// How far along a stroke, from its end a, it comes to be seen, where that end is too near to the eye or behind it
float cut(vec4 a, vec4 b) {
    float near_a = a.z + a.w, near_b = b.z + b.w;
    return near_a < 0.0 && near_b > 0.0 ? near_a / (near_a - near_b) : 0.0;
}

void main() {
    vec4 first = u_view_projection * vec4(i_a, 1.0), last = u_view_projection * vec4(i_b, 1.0);
    float from = cut(first, last), to = 1.0 - cut(last, first), at = mix(from, to, in_corner.x);
    vec4 a = mix(first, last, from), b = mix(first, last, to);
    vec2 along = (b.xy / b.w - a.xy / a.w) * u_size;
    float len = length(along);
    along = len > 1e-4 ? along / len : vec2(1.0, 0.0);
    float half_width = 0.5 * mix(i_width.x, i_width.y, at);
    float reach = half_width + 0.5;
    vec4 p = mix(a, b, in_corner.x);
    vec2 shift = reach * in_corner.y * vec2(-along.y, along.x);
    if (len <= 1e-4) shift += half_width * (2.0 * in_corner.x - 1.0) * along;  // a dot is a square
    p.xy += 2.0 * shift / u_size * p.w;
    v_across = vec2(reach * in_corner.y, half_width);
    v_color = mix(i_color_a, i_color_b, at);
    gl_Position = max(a.w, b.w) > 0.0 ? p : vec4(0.0, 0.0, 2.0, 1.0);
}
