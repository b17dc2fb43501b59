// The two means over the map of outlines that open.glsl reads, once for all pixels: four means of half the width each, on a
// turned square, so that the grid of the map is not seen.
uniform sampler2D u_heights;  // covered; times top; times (1 - bottom); heights from 0 to 1
uniform vec4 u_over;          // corner of the map x, y [m]; 1 / its width; 1 / its height
uniform vec2 u_near;          // radii of the two means, m
uniform vec2 u_lods;          // levels of the map that are means of half the width
in vec2 v_uv;
layout(location = 0) out vec4 out_near;
layout(location = 1) out vec4 out_wide;

vec4 mean_of(float radius, float lod) {
    vec2 a = 0.6 * radius * u_over.z * vec2(1.0, 0.4), b = vec2(-a.y, a.x);
    vec4 sum = textureLod(u_heights, v_uv + a, lod) + textureLod(u_heights, v_uv - a, lod);
    return 0.25 * (sum + textureLod(u_heights, v_uv + b, lod) + textureLod(u_heights, v_uv - b, lod));
}

void main() {
    out_near = mean_of(u_near.x, u_lods.x);
    out_wide = mean_of(u_near.y, u_lods.y);
}
