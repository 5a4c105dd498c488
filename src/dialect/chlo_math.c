/* chlo's elementwise ops as formulas (formula.c says how to read them).
 *
 * The texts are the peers' decompositions (ChloDecompositionPatternsMath.td, written by
 * openxla/stablehlo's generator from functional_algorithms, and the C++ of
 * ChloLegalizeToStablehlo.cpp) in shorter form: names like t0 stand where a value is used again, so
 * the ops come out in the peers' order. What each approximates stands above it. The table below
 * says which text is for which type. */
#include "dialect/expand.h"

/* clang-format off */
/* sqrt(a^2 - x^2) and log(a + sqrt(a^2 - 1)), a = (|z + 1| + |z - 1|) / 2, Hull et al. */
static const char kernel[] =
    "complex(sel(ge(max(x:abs(sx:real(z)), y:abs(sy:imag(z))), big:div(sqrt(#max~sx), 8~sx)), "
    "y, sel(le(x, one:1~sx), sqrt(mul(hax:mul(half:0.5~sx, add(a:mul(half, "
    "add(r:sel(eq(mx:max(t0:abs(xp1:add(x, one)), y), mn:min(t0, y)), "
    "mul(rt2:1.4142135623730951~sx, mx), sel(and(eq(sqa:sqrt(add(one, r_0:mul(t1:div(mn, mx), "
    "t1))), one), gt(r_0, zero:0~sx)), add(mx, div(mul(mx, r_0), two:2~sx)), mul(mx, sqa))), "
    "s:sel(eq(mx_0:max(t2:abs(xm1:sub(x, one)), y), mn_0:min(t2, y)), mul(rt2, mx_0), "
    "sel(and(eq(t3:sqrt(add(one, r_1:mul(t4:div(mn_0, mx_0), t4))), one), gt(r_1, zero)), "
    "add(mx_0, div(mul(mx_0, r_1), two)), mul(mx_0, t3))))), x)), add(div(yy:mul(y, y), "
    "t5:add(r, xp1)), t6:sub(s, xm1)))), mul(y, sqrt(add(div(hax, t5), div(hax, t7:add(s, "
    "xm1))))))), sel(ge(mx_1:sel(t8:ge(y, t9:sel(lt(x, mul(big, 1000000000000~sx)), mul(big, "
    "1e-06~sx), mul(big, 100~sx))), y, x), sel(t8, t9, big)), add(add(log(two), log(mx_1)), "
    "mul(half, log1p(mul(xoy:sel(and(t8, not(eq(y, #inf~sy))), div(x, y), zero), xoy)))), "
    "sel(t10:and(lt(y, mul(sqrt(#tiny~sx), 4~sx)), lt(x, one)), div(y, sq:sqrt(mul(am1:sel(t10, "
    "neg(div(mul(xp1, xm1), ap1:add(a, one))), t11:sel(ge(x, one), add(t12:div(t13:mul(half, "
    "yy), t5), mul(half, t7)), sel(le(a, 1.5~sx), add(t12, div(t13, t6)), sub(a, one)))), "
    "ap1))), log1p(add(am1, sq)))))";
static const char acos_c[] =
    "complex(atan2(real(t0:kernel(z)), sx:real(z)), sel(lt(sy:imag(z), 0~sy), t1:imag(t0), "
    "neg(t1)))";

static const char acosh_c[] =
    "complex(imag(w:kernel(z)), sel(lt(sy:imag(z), 0~sy), neg(imag:atan2(real(w), sx:real(z))), "
    "imag))";

static const char acosh_r[] =
    "sel(ge(x, div(#max, two:2)), add(log(two), log(x)), log1p(mul(t0:sqrt(sub(x, one:1)), "
    "add(sqrt(add(x, one)), t0))))";

static const char asin_c[] =
    "complex(real:atan2(sx:real(z), real(t0:kernel(z))), sel(lt(sy:imag(z), 0~sx), "
    "neg(t1:imag(t0)), t1))";

static const char asinh_c[] =
    "complex(sel(lt(sx:real(z), 0~sx), neg(t0:imag(w:kernel(complex(neg(sy:imag(z)), sx)))), "
    "t0), atan2(sy, real(w)))";

static const char asinh_r[] =
    "mul(sign(x), sel(ge(ax:abs(x), sqrt(#max)), add(log(2), log(ax)), log1p(add(ax, "
    "div(ax2:mul(ax, ax), add(one:1, sqrt(add(one, ax2))))))))";

static const char atanh_c[] =
    "complex(mul(mul(sel(ge(x:real(z), zero:0~x), one:1~x, t0:-1~x), log1p(mul(4~x, "
    "sel(t1:and(lt(ax:abs(x), big:mul(t2:sel(gt(top:#max~x, 1e+308~x), 9007199254740994~x, "
    "sel(gt(top, 1e+38~x), 16777218~x, 2050~x)), t2)), lt(ay:abs(y:imag(z)), big)), div(ax, "
    "add(mul(t3:sub(one, ax), t3), y2:mul(y, y))), sel(lt(mul(ay, t2), ax), div(one, ax), "
    "sel(or(or(eq(x, t4:#inf~x), eq(x, t5:#ninf~x)), or(eq(y, t4), eq(y, t5))), zero, "
    "div(div(one, add(div(ax, y), div(y, ax))), y))))))), 0.25~x), mul(sel(t1, atan2(add(y, y), "
    "sub(mul(t3, add(one, ax)), y2)), mul(sel(ge(y, 0~y), one, t0), #pi~x)), 0.5~x))";

static const char atanh_r[] =
    "sel(gt(abs(x), 1), #nan, mul(sub(log1p(x), log1p(neg(x))), 0.5))";

static const char square_c[] =
    "complex(sel(and(finite(x:real(z)), eq(abs(x), abs(y:imag(z)))), 0~x, mul(sub(x, y), add(x, "
    "y))), mul(2~x, mul(x, y)))";

/* Eigen's, from -4 to 4. */
static const char erf_r[] =
    "low = -4; top = 4; x = clamp(low, x, top); xx = mul(x, x); a = poly(xx, "
    "[-2.72614225801306e-10 2.77068142495902e-8 -2.10102402082508e-6 -5.69250639462346e-5 "
    "-7.34990630326855e-4 -2.95459980854025e-3 -1.60960333262415e-2]); b = poly(xx, "
    "[-1.45660718464996e-5 -2.13374055278905e-4 -1.68282697438203e-3 -7.37332916720468e-3 "
    "-1.42647390514189e-2]); f = div(mul(x, a), b); clamp(-1~x, f, 1~x)";
static const char erf_d[] =
    "f = erf_small(x); one = 1; g = sub(one, erfc_large(x)); sel(lt(abs(x), one), f, g)";
/* |x| < 1; Cephes. */
static const char erf_small_r[] =
    "xx = mul(x, x); mul(x, poly(xx, [7.853861353153693e-5 -8.010193625184903e-4 "
    "5.188327685732524e-3 -2.685381193529856e-2 1.128358514861418e-1 -3.761262582423300e-1 "
    "1.128379165726710e0]))";
static const char erf_small_d[] =
    "xx = mul(x, x); t = mul(x, poly(xx, [9.60497373987051638749e0 9.00260197203842689217e1 "
    "2.23200534594684319226e3 7.00332514112805075473e3 5.55923013010394962768e4])); div(t, "
    "poly(xx, [1.00000000000000000000e0 3.35617141647503099647e1 5.21357949780152679795e2 "
    "4.59432382970980127987e3 2.26290000613890934246e4 4.92673942608635921086e4]))";
static const char erfc_r[] =
    "f = erfc_large(x); one = 1; g = sub(one, erf_small(x)); sel(lt(abs(x), one), g, f)";
/* |x| >= 1; Cephes. */
static const char erfc_large_r[] =
    "xx = mul(x, x); z = neg(xx); ax = abs(x); one = 1; rx = div(one, xx); ez = exp(z); ra = "
    "div(one, ax); e = mul(ez, ra); two = 2; near = lt(ax, two); p = poly(rx, "
    "[2.326819970068386e-2 -1.387039388740657e-1 3.687424674597105e-1 -5.824733027278666e-1 "
    "6.210004621745983e-1 -4.944515323274145e-1 3.404879937665872e-1 -2.741127028184656e-1 "
    "5.638259427386472e-1]); r = poly(rx, [-1.047766399936249e1 1.297719955372516e1 "
    "-7.495518717768503e0 2.921019019210786e0 -1.015265279202700e0 4.218463358204948e-1 "
    "-2.820767439740514e-1 5.641895067754075e-1]); f = mul(e, sel(near, p, r)); low = lt(z, "
    "-88.72283905206835); zero = 0; f = sel(low, zero, f); neg = lt(x, zero); g = sub(two, f); "
    "sel(neg, g, f)";
static const char erfc_large_d[] =
    "xx = mul(x, x); z = neg(xx); ez = exp(z); ax = abs(x); p = mul(ez, poly(ax, "
    "[2.46196981473530512524e-10 5.64189564831068821977e-1 7.46321056442269912687e0 "
    "4.86371970985681366614e1 1.96520832956077098242e2 5.26445194995477358631e2 "
    "9.34528527171957607540e2 1.02755188689515710272e3 5.57535335369399327526e2])); p = div(p, "
    "poly(ax, [1.00000000000000000000e0 1.32281951154744992508e1 8.67072140885989742329e1 "
    "3.54937778887819891062e2 9.75708501743205489753e2 1.82390916687909736289e3 "
    "2.24633760818710981792e3 1.65666309194161350182e3 5.57535340817727675546e2])); r = mul(ez, "
    "poly(ax, [5.64189583547755073984e-1 1.27536670759978104416e0 5.01905042251180477414e0 "
    "6.16021097993053585195e0 7.40974269950448939160e0 2.97886665372100240670e0])); r = div(r, "
    "poly(ax, [1.00000000000000000000e0 2.26052863220117276590e0 9.39603524938001434673e0 "
    "1.20489539808096656605e1 1.70814450747565897222e1 9.60896809063285878198e0 "
    "3.36907645100081516050e0])); f = sel(lt(ax, 8), p, r); low = lt(z, "
    "-7.09782712893383996843e2); zero = 0; f = sel(low, zero, f); neg = lt(x, zero); two = 2; g "
    "= sub(two, f); sel(neg, g, f)";
/* Giles: polynomials in w = -log(1 - x^2), the one that its size asks for. */
static const char erf_inv_r[] =
    "w = neg(log1p(mul(x, neg(x)))); low = lt(w, 5); w = sel(low, sub(w, 2.5), sub(sqrt(w), "
    "3)); p = sel(low, 2.81022636e-8, -0.000200214257); p = add(sel(low, 3.43273939e-7, "
    "0.000100950558), mul(p, w)); p = add(sel(low, -3.5233877e-6, 0.00134934322), mul(p, w)); p "
    "= add(sel(low, -4.39150654e-6, -0.00367342844), mul(p, w)); p = add(sel(low, "
    "0.00021858087, 0.00573950773), mul(p, w)); p = add(sel(low, -0.00125372503, "
    "-0.0076224613), mul(p, w)); p = add(sel(low, -0.00417768164, 0.00943887047), mul(p, w)); p "
    "= add(sel(low, 0.246640727, 1.00167406), mul(p, w)); p = add(sel(low, 1.50140941, "
    "2.83297682), mul(p, w)); r = mul(p, x); sel(eq(abs(x), 1), mul(x, #inf), r)";
static const char erf_inv_d[] =
    "w = neg(log1p(mul(x, neg(x)))); low = lt(w, 6.25); mid = lt(w, 16); sq = sqrt(w); wl = "
    "sub(w, 3.125); t = sel(mid, 3.25~w, 5~w); w = sel(low, wl, sub(sq, t)); p = sel(mid, "
    "sel(low, -3.6444120640178196996e-21, 2.2137376921775787049e-9), "
    "-2.7109920616438573243e-11); p = add(sel(mid, sel(low, -1.685059138182016589e-19, "
    "9.0756561938885390979e-8), -2.5556418169965252055e-10), mul(p, w)); p = add(sel(mid, "
    "sel(low, 1.2858480715256400167e-18, -2.7517406297064545428e-7), 1.5076572693500548083e-9), "
    "mul(p, w)); p = add(sel(mid, sel(low, 1.115787767802518096e-17, 1.8239629214389227755e-8), "
    "-3.7894654401267369937e-9), mul(p, w)); p = add(sel(mid, sel(low, "
    "-1.333171662854620906e-16, 1.5027403968909827627e-6), 7.6157012080783393804e-9), mul(p, "
    "w)); p = add(sel(mid, sel(low, 2.0972767875968561637e-17, -4.013867526981545969e-6), "
    "-1.4960026627149240478e-8), mul(p, w)); p = add(sel(mid, sel(low, "
    "6.6376381343583238325e-15, 2.9234449089955446044e-6), 2.9147953450901080826e-8), mul(p, "
    "w)); p = add(sel(mid, sel(low, -4.0545662729752068639e-14, 1.2475304481671778723e-5), "
    "-6.7711997758452339498e-8), mul(p, w)); p = add(sel(mid, sel(low, "
    "-8.1519341976054721522e-14, -4.7318229009055733981e-5), 2.2900482228026654717e-7), mul(p, "
    "w)); p = add(sel(mid, sel(low, 2.6335093153082322977e-12, 6.8284851459573175448e-5), "
    "-9.9298272942317002539e-7), mul(p, w)); p = add(sel(mid, sel(low, "
    "-1.2975133253453532498e-11, 2.4031110387097893999e-5), 4.5260625972231537039e-6), mul(p, "
    "w)); p = add(sel(mid, sel(low, -5.4154120542946279317e-11, -0.0003550375203628475), "
    "-1.9681778105531670567e-5), mul(p, w)); p = add(sel(mid, sel(low, 1.051212273321532285e-9, "
    "0.0009532893797373805), 7.5995277030017761139e-5), mul(p, w)); p = add(sel(mid, sel(low, "
    "-4.1126339803469836976e-9, -0.0016882755560235047), -0.00021503011930044477), mul(p, w)); "
    "p = add(sel(mid, sel(low, -2.9070369957882005086e-8, 0.0024914420961078508066), "
    "-0.00013871931833623122), mul(p, w)); p = add(sel(mid, sel(low, 4.2347877827932403518e-7, "
    "-0.003751208507569241), 1.0103004648645343977), mul(p, w)); p = add(sel(mid, sel(low, "
    "-1.3654692000834678645e-6, 0.005370914553590063617), 4.8499064014085844221), mul(p, w)); p "
    "= sel(mid, add(sel(low, -1.3882523362786468719e-5, 1.0052589676941592334), mul(p, w)), p); "
    "p = sel(mid, add(sel(low, 0.0001867342080340571352, 3.0838856104922207635), mul(p, w)), "
    "p); p = sel(low, add(-0.000740702534166267, mul(p, w)), p); p = sel(low, "
    "add(-0.006033670871430149, mul(p, w)), p); p = sel(low, add(0.24015818242558961693, mul(p, "
    "w)), p); p = sel(low, add(1.6536545626831027356, mul(p, w)), p); r = mul(p, x); "
    "sel(eq(abs(x), 1), mul(x, #inf), r)";
/* Cephes: Chebyshev series below 8 and from 8 on. */
static const char bessel_r[] =
    "z = abs(x); half = 0.5; two = 2; far = 32; edge = 8; t = sub(mul(half, z), two); in = "
    "mul(z, cheb(t, [9.38153738649577178388e-9 -4.44505912879632808065e-8 "
    "2.00329475355213526229e-7 -8.56872026469545474066e-7 3.47025130813767847674e-6 "
    "-1.32731636560394358279e-5 4.78156510755005422638e-5 -1.61760815825896745588e-4 "
    "5.12285956168575772895e-4 -1.51357245063125314899e-3 4.15642294431288815669e-3 "
    "-1.05640848946261981558e-2 2.47264490306265168283e-2 -5.29459812080949914269e-2 "
    "1.02643658689847095384e-1 -1.76416518357834055153e-1 2.52587186443633654823e-1])); t = "
    "sub(div(far, z), two); out = cheb(t, [-3.83538038596423702205e-9 "
    "-2.63146884688951950684e-8 -2.51223623787020892529e-7 -3.88256480887769039346e-6 "
    "-1.10588938762623716291e-4 -9.76109749136146840777e-3 7.78576235018280120474e-1]); out = "
    "div(out, sqrt(z)); near = le(z, edge); s = sel(near, in, out); mul(sign(x), s)";
static const char bessel_d[] =
    "z = abs(x); half = 0.5; two = 2; far = 32; edge = 8; t = sub(mul(half, z), two); in = "
    "mul(z, cheb(t, [2.77791411276104639959e-18 -2.11142121435816608115e-17 "
    "1.55363195773620046921e-16 -1.10559694773538630805e-15 7.60068429473540693410e-15 "
    "-5.04218550472791168711e-14 3.22379336594557470981e-13 -1.98397439776494371520e-12 "
    "1.17361862988909016308e-11 -6.66348972350202774223e-11 3.62559028155211703701e-10 "
    "-1.88724975172282928790e-9 9.38153738649577178388e-9 -4.44505912879632808065e-8 "
    "2.00329475355213526229e-7 -8.56872026469545474066e-7 3.47025130813767847674e-6 "
    "-1.32731636560394358279e-5 4.78156510755005422638e-5 -1.61760815825896745588e-4 "
    "5.12285956168575772895e-4 -1.51357245063125314899e-3 4.15642294431288815669e-3 "
    "-1.05640848946261981558e-2 2.47264490306265168283e-2 -5.29459812080949914269e-2 "
    "1.02643658689847095384e-1 -1.76416518357834055153e-1 2.52587186443633654823e-1])); t = "
    "sub(div(far, z), two); out = cheb(t, [7.51729631084210481353e-18 "
    "4.41434832307170791151e-18 -4.65030536848935832153e-17 -3.20952592199342395980e-17 "
    "2.96262899764595013876e-16 3.30820231092092828324e-16 -1.88035477551078244854e-15 "
    "-3.81440307243700780478e-15 1.04202769841288027642e-14 4.27244001671195135429e-14 "
    "-2.10154184277266431302e-14 -4.08355111109219731823e-13 -7.19855177624590851209e-13 "
    "2.03562854414708950722e-12 1.41258074366137813316e-11 3.25260358301548823856e-11 "
    "-1.89749581235054123450e-11 -5.58974346219658380687e-10 -3.83538038596423702205e-9 "
    "-2.63146884688951950684e-8 -2.51223623787020892529e-7 -3.88256480887769039346e-6 "
    "-1.10588938762623716291e-4 -9.76109749136146840777e-3 7.78576235018280120474e-1]); out = "
    "div(out, sqrt(z)); near = le(z, edge); s = sel(near, in, out); mul(sign(x), s)";
static const char cosh_r[] =
    "l = log(0.5); a = exp(add(x, l)); b = exp(sub(l, x)); add(a, b)";
static const char sinh_c[] =
    "l = log(0.5); a = exp(add(x, l)); b = exp(sub(l, x)); sub(a, b)";
static const char sinh_r[] =
    "l = log(0.5); a = exp(add(x, l)); b = exp(sub(l, x)); far = sub(a, b); e = expm1(x); one = "
    "1; half = 0.5; d = add(e, one); q = div(e, d); s = mul(half, add(e, q)); sel(lt(abs(x), "
    "one), s, far)";
/* Lanczos with g = 7 and 9 terms, reflected below 1/2. */
static const char lgamma_r[] =
    "half = 0.5; low = lt(x, half); nx = neg(x); one = 1; z = sel(low, nx, sub(x, one)); a = "
    "0.9999999999998099; k = 676.5203681218851; i = 1; a = add(a, div(k, add(z, i))); k = "
    "-1259.1392167224028; i = 2; a = add(a, div(k, add(z, i))); k = 771.3234287776531; i = 3; a "
    "= add(a, div(k, add(z, i))); k = -176.6150291621406; i = 4; a = add(a, div(k, add(z, i))); "
    "k = 12.507343278686905; i = 5; a = add(a, div(k, add(z, i))); k = -0.13857109526572012; i "
    "= 6; a = add(a, div(k, add(z, i))); k = 9.984369578019572e-06; i = 7; a = add(a, div(k, "
    "add(z, i))); k = 1.5056327351493116e-07; i = 8; a = add(a, div(k, add(z, i))); g = 7.5; t "
    "= add(g, z); lg = 2.0149030205422647; lt = add(lg, log1p(div(z, g))); d = div(t, lt); r = "
    "mul(sub(add(z, half), d), lt); la = log(a); f = add(add(0.9189385332046727, r), la); ax = "
    "abs(x); fr = sub(ax, floor(ax)); fr = sel(lt(half, fr), sub(one, fr), fr); s = "
    "log(sin(mul(#pi, fr))); m = sub(sub(1.1447298858494002, s), f); ok = finite(s); ns = "
    "neg(s); m = sel(ok, m, ns); f = sel(low, m, f); sel(is_inf(x), #inf, f)";
static const char digamma_r[] =
    "half = 0.5; low = lt(x, half); nx = neg(x); one = 1; z = sel(low, nx, sub(x, one)); zero = "
    "0; a = 0.9999999999998099; b = zero; k = 676.5203681218851; i = 1; t = add(z, i); b = "
    "sub(b, div(k, mul(t, t))); a = add(a, div(k, t)); k = -1259.1392167224028; i = 2; t = "
    "add(z, i); b = sub(b, div(k, mul(t, t))); a = add(a, div(k, t)); k = 771.3234287776531; i "
    "= 3; t = add(z, i); b = sub(b, div(k, mul(t, t))); a = add(a, div(k, t)); k = "
    "-176.6150291621406; i = 4; t = add(z, i); b = sub(b, div(k, mul(t, t))); a = add(a, div(k, "
    "t)); k = 12.507343278686905; i = 5; t = add(z, i); b = sub(b, div(k, mul(t, t))); a = "
    "add(a, div(k, t)); k = -0.13857109526572012; i = 6; t = add(z, i); b = sub(b, div(k, "
    "mul(t, t))); a = add(a, div(k, t)); k = 9.984369578019572e-06; i = 7; t = add(z, i); b = "
    "sub(b, div(k, mul(t, t))); a = add(a, div(k, t)); k = 1.5056327351493116e-07; i = 8; t = "
    "add(z, i); b = sub(b, div(k, mul(t, t))); a = add(a, div(k, t)); g = 7.5; t = add(g, z); "
    "lg = 2.0149030205422647; lt = add(lg, log1p(div(z, g))); q = div(b, a); r = div(7, t); f = "
    "sub(add(lt, q), r); y = add(x, abs(floor(add(x, 0.5)))); pi = #pi; py = mul(pi, y); c = "
    "cos(py); s = sin(py); m = sub(f, div(mul(pi, c), s)); f = sel(low, m, f); neg = le(x, "
    "zero); int = eq(x, floor(x)); pole = and(neg, int); sel(pole, #nan, f)";
/* Euler-Maclaurin: nine terms, then the series of Bernoulli numbers; Cephes. */
static const char zeta_r[] =
    "zero = 0~q; one = 1~q; nx = neg(x); s = pow(q, nx); a = add(q, one); p = pow(a, nx); s = "
    "add(s, p); a = add(a, one); p = pow(a, nx); s = add(s, p); a = add(a, one); p = pow(a, "
    "nx); s = add(s, p); a = add(a, one); p = pow(a, nx); s = add(s, p); a = add(a, one); p = "
    "pow(a, nx); s = add(s, p); a = add(a, one); p = pow(a, nx); s = add(s, p); a = add(a, "
    "one); p = pow(a, nx); s = add(s, p); a = add(a, one); p = pow(a, nx); s = add(s, p); a = "
    "add(a, one); p = pow(a, nx); s = add(s, p); a = add(a, one); p = pow(a, nx); ox = 1~x; c = "
    "div(mul(p, a), sub(x, ox)); ra = div(one, mul(a, a)); h = mul(mul(add(x, 22~x), add(x, "
    "21~x)), mul(ra, add(zero, -1.3954464685812522e-19~a))); h = mul(mul(add(x, 20~x), add(x, "
    "19~x)), mul(ra, add(h, 5.5090028283602295e-18~a))); h = mul(mul(add(x, 18~x), add(x, "
    "17~x)), mul(ra, add(h, -2.1748686985580617e-16~a))); h = mul(mul(add(x, 16~x), add(x, "
    "15~x)), mul(ra, add(h, 8.586062056277845e-15~a))); h = mul(mul(add(x, 14~x), add(x, "
    "13~x)), mul(ra, add(h, -3.389680296322583e-13~a))); h = mul(mul(add(x, 12~x), add(x, "
    "11~x)), mul(ra, add(h, 1.3382536530684679e-11~a))); h = mul(mul(add(x, 10~x), add(x, "
    "9~x)), mul(ra, add(h, -5.284190138687493e-10~a))); h = mul(mul(add(x, 8~x), add(x, 7~x)), "
    "mul(ra, add(h, 2.08767569878681e-08~a))); h = mul(mul(add(x, 6~x), add(x, 5~x)), mul(ra, "
    "add(h, -8.267195767195768e-07~a))); h = mul(mul(add(x, 4~x), add(x, 3~x)), mul(ra, add(h, "
    "3.306878306878307e-05~a))); h = mul(mul(add(x, 2~x), add(x, 1~x)), mul(ra, add(h, "
    "-0.001388888888888889~a))); hp = 0.5~p; xa = div(x, a); t = mul(p, add(hp, mul(xa, "
    "add(0.08333333333333333~a, h)))); f = add(add(s, c), t); ap = abs(p); as = abs(s); f = "
    "sel(lt(ap, mul(as, #least~a)), s, f); nan = #nan~x; f = sel(lt(x, ox), nan, f); neg = "
    "le(q, zero); xn = ne(x, floor(x)); bad = and(neg, xn); f = sel(bad, nan, f); inf = #inf~x; "
    "qi = eq(q, floor(q)); pole = and(neg, qi); two = 2~x; xi = eq(x, floor(x)); even = "
    "eq(rem(x, two), zero); xe = and(xi, even); f = sel(pole, sel(xe, inf, nan), f); sel(eq(x, "
    "one), inf, f)";
static const char polygamma_r[] =
    "one = 1~x; two = 2~x; sg = sub(mul(two, rem(n, two)), one); m = add(n, one); g = "
    "exp(lgamma(m)); z = zeta(m, x); f = mul(mul(sg, g), z); zero = 0~x; nz = eq(n, zero); f = "
    "sel(nz, digamma(x), f); ni = ne(n, floor(n)); neg = lt(n, zero); bad = or(ni, neg); "
    "sel(bad, #nan~x, f)";
static const char next_after_r[] =
    "xi = bits(x); yi = bits(y); xn = ne(x, x); yn = ne(y, y); nan = or(xn, yn); rn = "
    "bits(#nan); sm = #sign~xi; nm = #magnitude~xi; xa = and(xi, nm); ya = and(yi, nm); same = "
    "eq(x, y); zero = 0~xi; xz = eq(xa, zero); yz = eq(ya, zero); xs = and(xi, sm); ys = "
    "and(yi, sm); one = 1~xi; least = or(ys, one); apart = ne(xs, ys); far = gt(xa, ya); in = "
    "or(far, apart); m1 = -1~xi; step = sel(in, m1, one); r = add(xi, step); r = sel(xz, "
    "sel(yz, yi, least), r); r = sel(same, yi, r); r = sel(nan, rn, r); unbits(r, x)";
/* Products of halves, and their carries. */
static const char mulhi_u64[] =
    "add(add(mul(ah:shr(x, 32), bh:shr(y, 32~y)), shr(m:add(mul(al:and(x, 4294967295), bh), "
    "shr(mul(al, bl:and(y, 4294967295~y)), 32)), 32)), shr(add(mul(ah, bl), and(m, "
    "4294967295)), 32))";
static const char mulhi_s64[] =
    "convert(sub(sub(mulhi(unsign(x), unsign(y)), sel(lt(x, 0), unsign(y), zero(unsign(y)))), "
    "sel(lt(y, 0~y), unsign(x), zero(unsign(x)))), x)";
/* clang-format on */

/* Which formula. Types narrower than f32 are computed in f32 where `upcast` says so. */
typedef struct row {
  const char *name, *params;
  const char *real;    /* and whatever has no formula of its own */
  const char *wide;    /* f64; NULL: as real */
  const char *complex; /* NULL: none */
  bool upcast;
} row;

static const row rows[] = {
    {"kernel", "z", NULL, NULL, kernel, false},
    {"acos", "x", "atan2(sqrt(mul(sub(one:1, x), add(one, x))), x)", NULL, NULL, false},
    {"acos", "z", NULL, NULL, acos_c, false},
    {"acosh", "x", acosh_r, NULL, NULL, false},
    {"acosh", "z", NULL, NULL, acosh_c, false},
    {"asin", "x", "add(t:atan2(x, add(one:1, sqrt(mul(sub(one, x), add(one, x))))), t)", NULL, NULL,
     false},
    {"asin", "z", NULL, NULL, asin_c, false},
    {"asinh", "x", asinh_r, NULL, NULL, false},
    {"asinh", "z", NULL, NULL, asinh_c, false},
    {"atan", "x", "atan2(x, 1)", NULL, NULL, false},
    {"atan", "z", NULL, NULL,
     "complex(imag(w:atanh(complex(neg(imag(z)), real(z)))), neg(real(w)))", false},
    {"atanh", "x", atanh_r, NULL, NULL, false},
    {"atanh", "z", NULL, NULL, atanh_c, false},
    {"bessel_i1e", "x", bessel_r, bessel_d, NULL, true},
    {"conj", "x", "x", NULL, "complex(real(x), neg(imag(x)))", false},
    {"cosh", "x", cosh_r, NULL, cosh_r, true},
    {"digamma", "x", digamma_r, NULL, NULL, true},
    {"erf", "x", erf_r, erf_d, NULL, true},
    {"erf_small", "x", erf_small_r, erf_small_d, NULL, false},
    {"erfc", "x", erfc_r, NULL, NULL, true},
    {"erfc_large", "x", erfc_large_r, erfc_large_d, NULL, false},
    {"erf_inv", "x", erf_inv_r, erf_inv_d, NULL, true},
    {"is_inf", "x", "is_pos_inf(abs(x))", NULL, NULL, false},
    {"is_pos_inf", "x", "eq(x, #inf)", NULL, NULL, false},
    {"is_neg_inf", "x", "eq(x, #ninf)", NULL, NULL, false},
    {"lgamma", "x", lgamma_r, NULL, NULL, true},
    {"next_after", "x y", next_after_r, NULL, NULL, false},
    {"polygamma", "n x", polygamma_r, NULL, NULL, true},
    {"sinh", "x", sinh_r, NULL, sinh_c, true},
    {"square", "x", "mul(x, x)", NULL, NULL, false},
    {"square", "z", NULL, NULL, square_c, false},
    {"tan", "x", "tan(x)", NULL, "tan(x)", false},
    {"zeta", "x q", zeta_r, NULL, NULL, true},
};

/* f64 takes more terms where there are two approximations. */
static const char *formula_of(const row *r, const type *elem) {
  if (elem->kind == TYPE_COMPLEX) return r->complex;
  return r->wide && elem->kind == TYPE_FLOAT && elem->flt == FLOAT_f64 ? r->wide : r->real;
}

/* Is the type computed in f32? */
static bool is_narrow(const row *r, const type *elem) {
  return r->upcast && elem->kind == TYPE_FLOAT && elem->width < 32;
}

static value *convert(expander *e, value *v, const type *elem) {
  return expand_1(e, OP_convert, v, expand_with_elem(e->c, v->type, elem));
}

/* High half of a product: in integers of twice the width, or of 64 bits. */
static value *mulhi(expander *e, value *const *args) {
  const type *t = type_element(args[0]->type);
  bool is_unsigned = t->sign == UNSIGNED;
  if (t->width >= 64) return formula_expand(e, is_unsigned ? mulhi_u64 : mulhi_s64, "x y", args);
  const type *wide = type_int(e->c, t->width * 2, (signedness)t->sign);
  value *x = convert(e, args[0], wide), *y = convert(e, args[1], wide);
  x = expand_2(e, OP_multiply, x, y, x->type);
  y = expand_constant_like(e, number_int(t->width), x, NULL);
  op_id shift = is_unsigned ? OP_shift_right_logical : OP_shift_right_arithmetic;
  return y ? convert(e, expand_2(e, shift, x, y, x->type), t) : NULL;
}

/* The names that formulas may call besides the functions of formula.c; among them are ops of chlo
 * (erf) and parts of such that several need (erf_small). A row for complex and one for real
 * elements may have one name; the first with a text for the type counts. */
value *chlo_formula(expander *e, str name, value *const *args, size_t n) {
  enum { MOST = 2 };
  const type *elem = type_element(args[0]->type);
  if (str_is(name, "zero")) return expand_constant_like(e, number_int(0), args[0], NULL);
  if (str_is(name, "mulhi")) return n == 2 ? mulhi(e, args) : NULL;
  for (size_t i = 0; i < COUNT(rows); i++) {
    const char *text = formula_of(&rows[i], elem);
    if (!text || !str_is(name, rows[i].name)) continue;
    if (!is_narrow(&rows[i], elem)) return formula_expand(e, text, rows[i].params, args);
    value *in[MOST], *v;
    const type *f32 = type_float(e->c, FLOAT_f32);
    for (size_t k = 0; k < n && k < MOST; k++) in[k] = convert(e, args[k], f32);
    v = formula_expand(e, text, rows[i].params, in);
    return v ? convert(e, v, elem) : NULL;
  }
  return NULL;
}
