// Smooths stairs along edges: blurs each pixel along the edge through it, where there is one (after Lottes' FXAA, 2009).
uniform sampler2D u_picture;
in vec2 v_uv;
out vec4 out_color;

float luma(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }

void main() {
    vec2 pixel = 1.0 / vec2(textureSize(u_picture, 0));
    vec3 here = texture(u_picture, v_uv).rgb;
    float m = luma(here);
    float nw = luma(texture(u_picture, v_uv + pixel * vec2(-0.5, 0.5)).rgb), ne = luma(texture(u_picture, v_uv + pixel * vec2(0.5, 0.5)).rgb);
    float sw = luma(texture(u_picture, v_uv + pixel * vec2(-0.5, -0.5)).rgb), se = luma(texture(u_picture, v_uv + pixel * vec2(0.5, -0.5)).rgb);
    float low = min(m, min(min(nw, ne), min(sw, se))), high = max(m, max(max(nw, ne), max(sw, se)));
    vec2 along = vec2((sw + se) - (nw + ne), (nw + sw) - (ne + se));
    float least = min(abs(along.x), abs(along.y)) + max(0.03 * (nw + ne + sw + se), 0.008);
    along = clamp(along / least, -6.0, 6.0) * pixel;
    vec3 near = 0.5 * (texture(u_picture, v_uv + along * (-1.0 / 6.0)).rgb + texture(u_picture, v_uv + along * (1.0 / 6.0)).rgb);
    vec3 wide = 0.5 * near + 0.25 * (texture(u_picture, v_uv - 0.5 * along).rgb + texture(u_picture, v_uv + 0.5 * along).rgb);
    float w = luma(wide);
    vec3 smoothed = w < low || w > high ? near : wide;
    out_color = vec4(high - low < 0.04 ? here : smoothed, 1.0);
}
