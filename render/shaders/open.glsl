// How much of the sky bodies hide from a point, from two means over the map of their outlines seen from above (means.frag): how
// much of the ground around is covered, up to what height, and from what height on.
#ifdef OCCLUDED
uniform sampler2D u_around;  // covered; times top; times (1 - bottom); heights from 0 to 1
uniform sampler2D u_beyond;  // the same, wider
uniform vec4 u_over;         // corner of the map x, y [m]; 1 / its width; 1 / its height
uniform float u_low;         // m
uniform vec2 u_near;         // radii of the two means, m
uniform vec2 u_steep;        // height of the map over these

// Divisions are few: what stands hides the sky up to its top at a part t^2 / (1 + t^2), t the slope up to there.
float hidden_by(sampler2D map, vec3 p, vec3 n, float radius, float size) {
    vec3 mean = textureLod(map, (p.xy + radius * n.xy - u_over.xy) * u_over.z, 0.0).rgb;
    float each = 1.0 / max(mean.r, 1e-4), z = (p.z + 0.1 * radius * n.z - u_low) * u_over.w;
    float top = max(mean.g * each - z, 0.0) * size, gap = max(1.0 - mean.b * each - z, 0.0) * size;
    float a = 1.0 + top * top, b = 1.0 + gap * gap;
    // what stands around hides the sky up to its top; what floats above hides a disc of it
    return mean.r * max(a - b + a * min(2.0 * gap, 1.0), 0.0) / (a * b);
}

float open_at(vec3 p, vec3 n) {
    float a = hidden_by(u_around, p, n, u_near.x, u_steep.x), b = hidden_by(u_beyond, p, n, u_near.y, u_steep.y);
    float hidden = 1.0 - (1.0 - 0.8 * min(a, 1.0)) * (1.0 - 0.8 * min(b, 1.0));
    return 1.0 - max(hidden - 0.02, 0.0) * clamp(0.6 + 0.6 * n.z, 0.15, 1.0);
}

// What is left of what is displayed, where so much of the sky is hidden
float kept_of(float hidden, float lit) {
    return 1.0 - hidden * mix(0.65, 0.3, lit);
}
#define OPEN(color, lit, p, n) (color) *= kept_of(1.0 - open_at(p, n), lit)
#else
#define OPEN(color, lit, p, n)
#endif
