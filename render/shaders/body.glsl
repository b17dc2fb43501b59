// Where a corner of an instanced mesh is. Positions are relative to the camera's target, so that single precision does.
in vec3 in_position;
in vec3 in_normal;
in vec3 i_position;
in vec4 i_rotation;  // x y z w
in vec3 i_scale;
in vec4 i_color;     // linear light; w: radius of the body

vec3 turned(vec3 v) {
    vec3 t = 2.0 * cross(i_rotation.xyz, v);
    return v + i_rotation.w * t + cross(i_rotation.xyz, t);
}
