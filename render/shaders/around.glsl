// What smooth surfaces mirror: the light of sky, horizon and ground by direction.
uniform vec3 u_horizon_light;
uniform vec3 u_zenith_light;
uniform vec3 u_floor_light;

vec3 around(vec3 d, float rough) {
    float up2 = d.z * d.z;
    vec3 sky = mix(u_horizon_light, u_zenith_light, up2 / (up2 + 0.04 + rough));
    vec3 ground = mix(u_horizon_light, u_floor_light, up2 / (up2 + 0.002 + 0.2 * rough));
    return mix(ground, sky, smoothstep(-rough, rough, d.z));
}

// Part of the light that a clear surface mirrors at a cosine (Schlick 1994)
float fresnel(float cosine, float straight) {
    float x = 1.0 - clamp(cosine, 0.0, 1.0);
    return straight + (1.0 - straight) * x * x * x * x * x;
}
