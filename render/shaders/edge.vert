// Edge lines of a width in pixels, drawn a little nearer to the eye than the surface they lie on: as quads, or as wide lines.
in vec3 in_a;
in vec3 in_b;
in vec3 in_normal_a;  // of the faces that meet there
in vec3 in_normal_b;
in vec2 in_corner;   // x: which end, 0 or 1; y: which side, -1 or 1; of a wide line 0
in vec3 i_position;
in vec4 i_rotation;
in vec3 i_scale;
in vec4 i_color;
uniform mat4 u_view_projection;
uniform vec3 u_eye;
uniform vec2 u_size;      // of the picture, pixels
uniform float u_width;    // pixels
uniform float u_focal;    // pixels per unit of size at unit distance
uniform float u_darken;
flat out vec3 v_line;  // distance from the line of a pixel: dot(v_line, (x, y, 1))
flat out vec4 v_color;

vec3 turned(vec3 v) {
    vec3 t = 2.0 * cross(i_rotation.xyz, v);
    return v + i_rotation.w * t + cross(i_rotation.xyz, t);
}

vec4 clipped(vec3 local) {
    vec3 p = i_position + turned(local * i_scale);
    return u_view_projection * vec4(u_eye + 0.9994 * (p - u_eye), 1.0);
}

// End a of a line; where it is too near to the eye or behind it, the place at which the line comes to be seen
vec4 cut(vec4 a, vec4 b) {
    float near_a = a.z + a.w, near_b = b.z + b.w;
    return near_a < 0.0 && near_b > 0.0 ? mix(a, b, near_a / (near_a - near_b)) : a;
}

// Both faces are turned away: the body itself hides the line. Told in the body, without its stretch
bool hidden() {
    vec3 d = u_eye - i_position, t = 2.0 * cross(-i_rotation.xyz, d);
    vec3 eye = (d + i_rotation.w * t + cross(-i_rotation.xyz, t)) / i_scale - in_a;
    return dot(in_normal_a, eye) < 0.0 && dot(in_normal_b, eye) < 0.0;
}

void main() {
    vec4 first = clipped(in_a), last = clipped(in_b), a = cut(first, last), b = cut(last, first);
    vec2 along = (b.xy / b.w - a.xy / a.w) * u_size;
    float len = length(along);
    along = len > 1e-4 ? along / len : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);
    float reach = 0.5 * u_width + 0.5;
    vec4 p = mix(a, b, in_corner.x);
    vec2 shift = reach * in_corner.y * across + 0.5 * u_width * (2.0 * in_corner.x - 1.0) * along;
    p.xy += 2.0 * shift / u_size * p.w;
    vec4 seen = a.w > b.w ? a : b;
    v_line = vec3(across, -dot(across, (0.5 + 0.5 * seen.xy / seen.w) * u_size));
    float pixels = u_focal * i_color.a / distance(i_position, u_eye);  // small bodies: fade the lines, not the body
    v_color = vec4(i_color.rgb * u_darken, 0.9 * smoothstep(3.0, 16.0, pixels));
    gl_Position = hidden() || seen.w <= 0.0 ? vec4(0.0, 0.0, 2.0, 1.0) : p;
}
