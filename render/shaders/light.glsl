// What all surfaces share: sun, sky, shadow, tone curve. The numbers come from look.py.
uniform vec3 u_sun;          // towards the sun
uniform vec3 u_sun_light;
uniform vec3 u_sky_light;
uniform vec3 u_ground_light;
uniform float u_exposure;
uniform vec3 u_horizon;      // as displayed; as light where pictures are gathered
uniform vec3 u_zenith;
uniform vec3 u_nadir;
uniform vec3 u_eye;
uniform sampler2DShadow u_shadow;
uniform float u_softness;    // radius of the filter, in texels

// A turned square, in texels: seen from any side its corners are evenly apart. Each tap is a mean of four texels already
float taps(sampler2DShadow map, vec3 s, float reach) {
    vec2 a = reach / vec2(textureSize(map, 0)) * vec2(1.0, 0.4), b = reach / vec2(textureSize(map, 0)) * vec2(-0.4, 1.0);
    float lit = texture(map, vec3(s.xy + a, s.z)) + texture(map, vec3(s.xy - a, s.z));
    return 0.25 * (lit + texture(map, vec3(s.xy + b, s.z)) + texture(map, vec3(s.xy - b, s.z)));
}

// The part of the sun that is not hidden from a place in the shadow map. Around its border the map is empty.
float lit_at(vec3 s) {
    s.z = min(s.z, 1.0);
#ifdef SOFT
    return taps(u_shadow, s, u_softness);
#else
    return texture(u_shadow, s);
#endif
}

// On small faces two places do, as far apart as the four
float lit_on_small(vec3 s) {
    s.z = min(s.z, 1.0);
#ifdef SOFT
    vec2 a = u_softness / vec2(textureSize(u_shadow, 0)) * vec2(0.9, 0.45);
    return 0.5 * (texture(u_shadow, vec3(s.xy + a, s.z)) + texture(u_shadow, vec3(s.xy - a, s.z)));
#else
    return texture(u_shadow, s);
#endif
}

vec3 light_on(vec3 albedo, vec3 n, float sun) {
    return albedo * (mix(u_ground_light, u_sky_light, 0.5 + 0.5 * n.z) + sun * u_sun_light);
}

#ifdef GATHERED
uniform sampler2DShadow u_sky_shadow;
uniform float u_bounced;     // part of the light of sky and ground that comes round by way of what hides them
uniform vec3 u_sky;          // the direction of the sky that this picture of many is lit from

// One of many directions, even over the sky: of each the cosine, twice, has the mean (1 + n.z) / 2; from the ground likewise
vec3 light_from(vec3 albedo, vec3 n, float sun, vec3 s) {
    s.z = min(s.z, 1.0);
    float open = mix(2.0 * taps(u_sky_shadow, s, 2.0), 1.0, u_bounced);
    vec3 ambient = max(dot(n, u_sky), 0.0) * u_sky_light + max(dot(n, u_sky * vec3(1.0, 1.0, -1.0)), 0.0) * u_ground_light;
    return albedo * (open * ambient + sun * u_sun_light);
}
#endif

// Narkowicz 2015, a fit of the ACES film curve; see display() in look.py for the mix
vec3 film(vec3 x) {
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

// sRGB by square roots (Taylor 2010), three times as fast as pow in software and right to 0.2 of 255
vec3 to_srgb(vec3 x) {
    vec3 a = sqrt(x), b = sqrt(a), c = sqrt(b);
    return max(0.662002687 * a + 0.684122060 * b - 0.323583601 * c - 0.0225411470 * x, 0.0);
}

vec3 tone(vec3 x) {
    x *= u_exposure;
    float top = max(max(x.r, x.g), max(x.b, 1e-6));
    return to_srgb((film(x) + (2.0 * film(vec3(top)).x / top) * x) / 3.0);
}

vec3 to_display(vec3 x) {
#ifdef GATHERED
    return x;  // light is summed up first
#else
    return tone(x);
#endif
}

// Where the sun mirrors in a surface: to the 32nd power of the cosine, so much of its light
#define GLEAM 0.09
float gleam_of(vec3 n, vec3 towards_eye) {
    float gleam = max(dot(n, normalize(u_sun + normalize(towards_eye))), 0.0);
    gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam;
    return GLEAM * gleam;
}

vec3 sky_towards(vec3 d) {
    float up2 = d.z * d.z;
    return mix(u_horizon, d.z > 0.0 ? u_zenith : u_nadir, up2 / (up2 + 0.04 * dot(d, d)));
}
