// What all surfaces share: sun, sky, shadow, tone curve. The numbers come from look.py.
uniform vec3 u_sun;          // towards the sun
uniform vec3 u_sun_light;
uniform vec3 u_sky_light;
uniform vec3 u_ground_light;
uniform float u_exposure;
uniform vec3 u_horizon;      // as displayed
uniform vec3 u_zenith;
uniform vec3 u_nadir;
uniform vec3 u_eye;
uniform sampler2DShadow u_shadow;
uniform mat4 u_to_shadow;    // world to [0,1]^3 of the shadow map
uniform float u_texel;       // size of a shadow texel in the world, m
uniform float u_softness;    // radius of the filter, in texels

float shadow_at(vec3 p, vec3 n) {
    vec3 s = (u_to_shadow * vec4(p + n * (1.5 * u_texel), 1.0)).xyz;
    if (any(lessThan(s.xy, vec2(0.0))) || any(greaterThan(s.xy, vec2(1.0)))) return 1.0;
    s.z = min(s.z, 1.0);
#if TAPS == 1
    return texture(u_shadow, s);
#else
    vec2 step_ = vec2(u_softness) / vec2(textureSize(u_shadow, 0));
    float lit = 0.0;
    for (int i = 0; i < TAPS; ++i)
        for (int j = 0; j < TAPS; ++j)
            lit += texture(u_shadow, vec3(s.xy + step_ * (2.0 * vec2(i, j) / float(TAPS - 1) - 1.0), s.z));
    return lit / float(TAPS * TAPS);
#endif
}

vec3 light_on(vec3 albedo, vec3 p, vec3 n, float gloss) {
    float facing = dot(n, u_sun);
    vec3 ambient = mix(u_ground_light, u_sky_light, 0.5 + 0.5 * n.z);
    vec3 light = albedo * ambient;
    if (facing > 0.0) {
        float lit = shadow_at(p, n);
        if (lit > 0.0) {
            vec3 halfway = normalize(u_sun + normalize(u_eye - p));
            light += lit * u_sun_light * facing * (albedo + gloss * pow(max(dot(n, halfway), 0.0), 48.0));
        }
    }
    return light;
}

// Narkowicz 2015, a fit of the ACES film curve; see display() in look.py for the mix
vec3 film(vec3 x) {
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

vec3 to_display(vec3 x) {
    x *= u_exposure;
    float top = max(max(x.r, x.g), max(x.b, 1e-6));
    x = (film(x) + 2.0 * film(vec3(top)) * x / top) / 3.0;
    return mix(12.92 * x, 1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, x));
}

vec3 sky_towards(vec3 d) {
    float up = d.z / length(d);
    return up > 0.0 ? mix(u_horizon, u_zenith, pow(up, 0.6)) : mix(u_horizon, u_nadir, pow(-up, 0.6));
}
