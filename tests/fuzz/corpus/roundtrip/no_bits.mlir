module attributes {t.a = i0, t.b = 0 : si0} {
}
