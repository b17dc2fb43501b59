void main() {
#ifdef GLASS
    if ((int(gl_FragCoord.x) + int(gl_FragCoord.y)) % 2 == 0) discard;  // glass lets half of the light pass
#endif
}
