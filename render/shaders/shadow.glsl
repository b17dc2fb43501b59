// Where a point of a surface with normal n is in the shadow maps. The maps are linear in place, so vertices do.
uniform mat4 u_to_shadow;    // world to [0,1]^3 of the shadow map of the sun
uniform float u_texel;       // size of a shadow texel in the world, m

vec3 in_shadow_map(vec3 p, vec3 n) {
    return (u_to_shadow * vec4(p + n * (1.5 * u_texel), 1.0)).xyz;
}
#ifdef GATHERED
uniform mat4 u_to_sky;       // the same for a direction of the sky
uniform float u_sky_texel;

vec3 in_sky_map(vec3 p, vec3 n) {
    return (u_to_sky * vec4(p + n * (1.5 * u_sky_texel), 1.0)).xyz;
}
#endif
