// How much of the sky bodies hide from a point, from two means over the map of their outlines seen from above: how much of the
// ground around is covered, up to what height, and from what height on. See sky.py.
#ifdef OCCLUDED
uniform sampler2D u_heights;  // covered; times top; times (1 - bottom); heights from 0 to 1
uniform vec4 u_over;          // corner of the map x, y [m]; 1 / its width; 1 / its height
uniform float u_low;          // m
uniform vec2 u_near;          // radii of the two means, m
uniform vec2 u_lods;          // levels of the map that are these means

float ring(float rise) {
    return rise * rise / (1.0 + rise * rise);
}

float hidden_by(vec3 p, vec3 n, float radius, float lod) {
    // four means of half the width, on a turned square: the grid of the map is not seen
    vec2 at = (p.xy + radius * n.xy - u_over.xy) * u_over.z, a = 0.6 * radius * u_over.z * vec2(1.0, 0.4), b = vec2(-a.y, a.x);
    vec3 mean = textureLod(u_heights, at + a, lod).rgb + textureLod(u_heights, at - a, lod).rgb;
    mean = 0.25 * (mean + textureLod(u_heights, at + b, lod).rgb + textureLod(u_heights, at - b, lod).rgb);
    float cover = max(mean.r, 1e-4), size = 1.0 / (u_over.w * radius);
    float z = (p.z + 0.1 * radius * n.z - u_low) * u_over.w;
    float top = ring(max(mean.g / cover - z, 0.0) * size);
    float gap = max(1.0 - mean.b / cover - z, 0.0) * size, bottom = ring(gap);
    // what stands around hides the sky up to its top; what floats above hides a disc of it
    return mean.r * max(top - bottom + (1.0 - bottom) * min(2.0 * gap, 1.0), 0.0);
}

float open_at(vec3 p, vec3 n) {
    float a = hidden_by(p, n, u_near.x, u_lods.x), b = hidden_by(p, n, u_near.y, u_lods.y);
    float hidden = 1.0 - (1.0 - 0.8 * min(a, 1.0)) * (1.0 - 0.8 * min(b, 1.0));
    return 1.0 - max(hidden - 0.02, 0.0) * clamp(0.6 + 0.6 * n.z, 0.15, 1.0);
}
#define OPEN(color, lit, p, n) (color) *= 1.0 - (1.0 - open_at(p, n)) * mix(0.65, 0.3, lit)  // of what is displayed
#else
#define OPEN(color, lit, p, n)
#endif
