// Small functions of many shapes. `zoo FILE` calls those whose numbers stand in the first line of the file.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace zoo {
int fn_0(int x) { int y = x * 3; y += 0; return y - x; }
int fn_1(int x) { if (x % 2 == 0) return x + 1; else x -= 1; return x; }
int fn_2(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 2; return sum; }
int fn_3(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_4(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 4; } return x; }
int fn_5(int x) { if (x > 10) { if (x > 100) return 3; x += 5; } return x; }
int fn_6(int x) { if ((x & 1 && x > 3) || x == 6) ++x; return x; }
int fn_7(int x) { return x > 7 ? x - 1 : x + 1; }
int fn_8(int x) { return x < 2 ? 1 : fn_8(x / 2) + 1; }
int fn_9(int x) { if (x < 0) return -1; return x + 9; }
int fn_10(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_11(int x) { return fn_0(x) + fn_1(x + 1); }
int fn_12(int x) { int y = x * 3; y += 12; return y - x; }
int fn_13(int x) { if (x % 2 == 0) return x + 13; else x -= 1; return x; }
int fn_14(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 14; return sum; }
int fn_15(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_16(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 16; } return x; }
int fn_17(int x) { if (x > 10) { if (x > 100) return 3; x += 17; } return x; }
int fn_18(int x) { if ((x & 1 && x > 3) || x == 18) ++x; return x; }
int fn_19(int x) { return x > 19 ? x - 1 : x + 1; }
int fn_20(int x) { return x < 2 ? 1 : fn_20(x / 2) + 1; }
int fn_21(int x) { if (x < 0) return -1; return x + 21; }
int fn_22(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_23(int x) { return fn_12(x) + fn_13(x + 1); }
int fn_24(int x) { int y = x * 3; y += 24; return y - x; }
int fn_25(int x) { if (x % 2 == 0) return x + 25; else x -= 1; return x; }
int fn_26(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 26; return sum; }
int fn_27(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_28(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 28; } return x; }
int fn_29(int x) { if (x > 10) { if (x > 100) return 3; x += 29; } return x; }
int fn_30(int x) { if ((x & 1 && x > 3) || x == 30) ++x; return x; }
int fn_31(int x) { return x > 31 ? x - 1 : x + 1; }
int fn_32(int x) { return x < 2 ? 1 : fn_32(x / 2) + 1; }
int fn_33(int x) { if (x < 0) return -1; return x + 33; }
int fn_34(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_35(int x) { return fn_24(x) + fn_25(x + 1); }
int fn_36(int x) { int y = x * 3; y += 36; return y - x; }
int fn_37(int x) { if (x % 2 == 0) return x + 37; else x -= 1; return x; }
int fn_38(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 38; return sum; }
int fn_39(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_40(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 40; } return x; }
int fn_41(int x) { if (x > 10) { if (x > 100) return 3; x += 41; } return x; }
int fn_42(int x) { if ((x & 1 && x > 3) || x == 42) ++x; return x; }
int fn_43(int x) { return x > 43 ? x - 1 : x + 1; }
int fn_44(int x) { return x < 2 ? 1 : fn_44(x / 2) + 1; }
int fn_45(int x) { if (x < 0) return -1; return x + 45; }
int fn_46(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_47(int x) { return fn_36(x) + fn_37(x + 1); }
int fn_48(int x) { int y = x * 3; y += 48; return y - x; }
int fn_49(int x) { if (x % 2 == 0) return x + 49; else x -= 1; return x; }
int fn_50(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 50; return sum; }
int fn_51(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_52(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 52; } return x; }
int fn_53(int x) { if (x > 10) { if (x > 100) return 3; x += 53; } return x; }
int fn_54(int x) { if ((x & 1 && x > 3) || x == 54) ++x; return x; }
int fn_55(int x) { return x > 55 ? x - 1 : x + 1; }
int fn_56(int x) { return x < 2 ? 1 : fn_56(x / 2) + 1; }
int fn_57(int x) { if (x < 0) return -1; return x + 57; }
int fn_58(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_59(int x) { return fn_48(x) + fn_49(x + 1); }
int fn_60(int x) { int y = x * 3; y += 60; return y - x; }
int fn_61(int x) { if (x % 2 == 0) return x + 61; else x -= 1; return x; }
int fn_62(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 62; return sum; }
int fn_63(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_64(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 64; } return x; }
int fn_65(int x) { if (x > 10) { if (x > 100) return 3; x += 65; } return x; }
int fn_66(int x) { if ((x & 1 && x > 3) || x == 66) ++x; return x; }
int fn_67(int x) { return x > 67 ? x - 1 : x + 1; }
int fn_68(int x) { return x < 2 ? 1 : fn_68(x / 2) + 1; }
int fn_69(int x) { if (x < 0) return -1; return x + 69; }
int fn_70(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_71(int x) { return fn_60(x) + fn_61(x + 1); }
int fn_72(int x) { int y = x * 3; y += 72; return y - x; }
int fn_73(int x) { if (x % 2 == 0) return x + 73; else x -= 1; return x; }
int fn_74(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 74; return sum; }
int fn_75(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_76(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 76; } return x; }
int fn_77(int x) { if (x > 10) { if (x > 100) return 3; x += 77; } return x; }
int fn_78(int x) { if ((x & 1 && x > 3) || x == 78) ++x; return x; }
int fn_79(int x) { return x > 79 ? x - 1 : x + 1; }
int fn_80(int x) { return x < 2 ? 1 : fn_80(x / 2) + 1; }
int fn_81(int x) { if (x < 0) return -1; return x + 81; }
int fn_82(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_83(int x) { return fn_72(x) + fn_73(x + 1); }
int fn_84(int x) { int y = x * 3; y += 84; return y - x; }
int fn_85(int x) { if (x % 2 == 0) return x + 85; else x -= 1; return x; }
int fn_86(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 86; return sum; }
int fn_87(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_88(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 88; } return x; }
int fn_89(int x) { if (x > 10) { if (x > 100) return 3; x += 89; } return x; }
int fn_90(int x) { if ((x & 1 && x > 3) || x == 90) ++x; return x; }
int fn_91(int x) { return x > 91 ? x - 1 : x + 1; }
int fn_92(int x) { return x < 2 ? 1 : fn_92(x / 2) + 1; }
int fn_93(int x) { if (x < 0) return -1; return x + 93; }
int fn_94(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_95(int x) { return fn_84(x) + fn_85(x + 1); }
int fn_96(int x) { int y = x * 3; y += 96; return y - x; }
int fn_97(int x) { if (x % 2 == 0) return x + 97; else x -= 1; return x; }
int fn_98(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 98; return sum; }
int fn_99(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_100(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 100; } return x; }
int fn_101(int x) { if (x > 10) { if (x > 100) return 3; x += 101; } return x; }
int fn_102(int x) { if ((x & 1 && x > 3) || x == 102) ++x; return x; }
int fn_103(int x) { return x > 103 ? x - 1 : x + 1; }
int fn_104(int x) { return x < 2 ? 1 : fn_104(x / 2) + 1; }
int fn_105(int x) { if (x < 0) return -1; return x + 105; }
int fn_106(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_107(int x) { return fn_96(x) + fn_97(x + 1); }
int fn_108(int x) { int y = x * 3; y += 108; return y - x; }
int fn_109(int x) { if (x % 2 == 0) return x + 109; else x -= 1; return x; }
int fn_110(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 110; return sum; }
int fn_111(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_112(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 112; } return x; }
int fn_113(int x) { if (x > 10) { if (x > 100) return 3; x += 113; } return x; }
int fn_114(int x) { if ((x & 1 && x > 3) || x == 114) ++x; return x; }
int fn_115(int x) { return x > 115 ? x - 1 : x + 1; }
int fn_116(int x) { return x < 2 ? 1 : fn_116(x / 2) + 1; }
int fn_117(int x) { if (x < 0) return -1; return x + 117; }
int fn_118(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_119(int x) { return fn_108(x) + fn_109(x + 1); }
int fn_120(int x) { int y = x * 3; y += 120; return y - x; }
int fn_121(int x) { if (x % 2 == 0) return x + 121; else x -= 1; return x; }
int fn_122(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 122; return sum; }
int fn_123(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_124(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 124; } return x; }
int fn_125(int x) { if (x > 10) { if (x > 100) return 3; x += 125; } return x; }
int fn_126(int x) { if ((x & 1 && x > 3) || x == 126) ++x; return x; }
int fn_127(int x) { return x > 127 ? x - 1 : x + 1; }
int fn_128(int x) { return x < 2 ? 1 : fn_128(x / 2) + 1; }
int fn_129(int x) { if (x < 0) return -1; return x + 129; }
int fn_130(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_131(int x) { return fn_120(x) + fn_121(x + 1); }
int fn_132(int x) { int y = x * 3; y += 132; return y - x; }
int fn_133(int x) { if (x % 2 == 0) return x + 133; else x -= 1; return x; }
int fn_134(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 134; return sum; }
int fn_135(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_136(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 136; } return x; }
int fn_137(int x) { if (x > 10) { if (x > 100) return 3; x += 137; } return x; }
int fn_138(int x) { if ((x & 1 && x > 3) || x == 138) ++x; return x; }
int fn_139(int x) { return x > 139 ? x - 1 : x + 1; }
int fn_140(int x) { return x < 2 ? 1 : fn_140(x / 2) + 1; }
int fn_141(int x) { if (x < 0) return -1; return x + 141; }
int fn_142(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_143(int x) { return fn_132(x) + fn_133(x + 1); }
int fn_144(int x) { int y = x * 3; y += 144; return y - x; }
int fn_145(int x) { if (x % 2 == 0) return x + 145; else x -= 1; return x; }
int fn_146(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 146; return sum; }
int fn_147(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_148(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 148; } return x; }
int fn_149(int x) { if (x > 10) { if (x > 100) return 3; x += 149; } return x; }
int fn_150(int x) { if ((x & 1 && x > 3) || x == 150) ++x; return x; }
int fn_151(int x) { return x > 151 ? x - 1 : x + 1; }
int fn_152(int x) { return x < 2 ? 1 : fn_152(x / 2) + 1; }
int fn_153(int x) { if (x < 0) return -1; return x + 153; }
int fn_154(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_155(int x) { return fn_144(x) + fn_145(x + 1); }
int fn_156(int x) { int y = x * 3; y += 156; return y - x; }
int fn_157(int x) { if (x % 2 == 0) return x + 157; else x -= 1; return x; }
int fn_158(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 158; return sum; }
int fn_159(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_160(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 160; } return x; }
int fn_161(int x) { if (x > 10) { if (x > 100) return 3; x += 161; } return x; }
int fn_162(int x) { if ((x & 1 && x > 3) || x == 162) ++x; return x; }
int fn_163(int x) { return x > 163 ? x - 1 : x + 1; }
int fn_164(int x) { return x < 2 ? 1 : fn_164(x / 2) + 1; }
int fn_165(int x) { if (x < 0) return -1; return x + 165; }
int fn_166(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_167(int x) { return fn_156(x) + fn_157(x + 1); }
int fn_168(int x) { int y = x * 3; y += 168; return y - x; }
int fn_169(int x) { if (x % 2 == 0) return x + 169; else x -= 1; return x; }
int fn_170(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 170; return sum; }
int fn_171(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_172(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 172; } return x; }
int fn_173(int x) { if (x > 10) { if (x > 100) return 3; x += 173; } return x; }
int fn_174(int x) { if ((x & 1 && x > 3) || x == 174) ++x; return x; }
int fn_175(int x) { return x > 175 ? x - 1 : x + 1; }
int fn_176(int x) { return x < 2 ? 1 : fn_176(x / 2) + 1; }
int fn_177(int x) { if (x < 0) return -1; return x + 177; }
int fn_178(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_179(int x) { return fn_168(x) + fn_169(x + 1); }
int fn_180(int x) { int y = x * 3; y += 180; return y - x; }
int fn_181(int x) { if (x % 2 == 0) return x + 181; else x -= 1; return x; }
int fn_182(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 182; return sum; }
int fn_183(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_184(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 184; } return x; }
int fn_185(int x) { if (x > 10) { if (x > 100) return 3; x += 185; } return x; }
int fn_186(int x) { if ((x & 1 && x > 3) || x == 186) ++x; return x; }
int fn_187(int x) { return x > 187 ? x - 1 : x + 1; }
int fn_188(int x) { return x < 2 ? 1 : fn_188(x / 2) + 1; }
int fn_189(int x) { if (x < 0) return -1; return x + 189; }
int fn_190(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_191(int x) { return fn_180(x) + fn_181(x + 1); }
int fn_192(int x) { int y = x * 3; y += 192; return y - x; }
int fn_193(int x) { if (x % 2 == 0) return x + 193; else x -= 1; return x; }
int fn_194(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 194; return sum; }
int fn_195(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_196(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 196; } return x; }
int fn_197(int x) { if (x > 10) { if (x > 100) return 3; x += 197; } return x; }
int fn_198(int x) { if ((x & 1 && x > 3) || x == 198) ++x; return x; }
int fn_199(int x) { return x > 199 ? x - 1 : x + 1; }
int fn_200(int x) { return x < 2 ? 1 : fn_200(x / 2) + 1; }
int fn_201(int x) { if (x < 0) return -1; return x + 201; }
int fn_202(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_203(int x) { return fn_192(x) + fn_193(x + 1); }
int fn_204(int x) { int y = x * 3; y += 204; return y - x; }
int fn_205(int x) { if (x % 2 == 0) return x + 205; else x -= 1; return x; }
int fn_206(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 206; return sum; }
int fn_207(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_208(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 208; } return x; }
int fn_209(int x) { if (x > 10) { if (x > 100) return 3; x += 209; } return x; }
int fn_210(int x) { if ((x & 1 && x > 3) || x == 210) ++x; return x; }
int fn_211(int x) { return x > 211 ? x - 1 : x + 1; }
int fn_212(int x) { return x < 2 ? 1 : fn_212(x / 2) + 1; }
int fn_213(int x) { if (x < 0) return -1; return x + 213; }
int fn_214(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_215(int x) { return fn_204(x) + fn_205(x + 1); }
int fn_216(int x) { int y = x * 3; y += 216; return y - x; }
int fn_217(int x) { if (x % 2 == 0) return x + 217; else x -= 1; return x; }
int fn_218(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 218; return sum; }
int fn_219(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_220(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 220; } return x; }
int fn_221(int x) { if (x > 10) { if (x > 100) return 3; x += 221; } return x; }
int fn_222(int x) { if ((x & 1 && x > 3) || x == 222) ++x; return x; }
int fn_223(int x) { return x > 223 ? x - 1 : x + 1; }
int fn_224(int x) { return x < 2 ? 1 : fn_224(x / 2) + 1; }
int fn_225(int x) { if (x < 0) return -1; return x + 225; }
int fn_226(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_227(int x) { return fn_216(x) + fn_217(x + 1); }
int fn_228(int x) { int y = x * 3; y += 228; return y - x; }
int fn_229(int x) { if (x % 2 == 0) return x + 229; else x -= 1; return x; }
int fn_230(int x) { int sum = 0; for (int i = 0; i < x % 5; ++i) sum += i * 230; return sum; }
int fn_231(int x) { int n = 0; while (n < 10) { if (n == x % 7) break; ++n; } return n; }
int fn_232(int x) { switch (x % 4) { case 0: return 1; case 1: x += 2; break; case 2: x *= 2; break; default: x = 232; } return x; }
int fn_233(int x) { if (x > 10) { if (x > 100) return 3; x += 233; } return x; }
int fn_234(int x) { if ((x & 1 && x > 3) || x == 234) ++x; return x; }
int fn_235(int x) { return x > 235 ? x - 1 : x + 1; }
int fn_236(int x) { return x < 2 ? 1 : fn_236(x / 2) + 1; }
int fn_237(int x) { if (x < 0) return -1; return x + 237; }
int fn_238(int x) { int n = x % 3; do { n += 2; } while (n < 5); return n; }
int fn_239(int x) { return fn_228(x) + fn_229(x + 1); }
struct Animal_0 { int weight; int feed(int x) { if (x > 0) weight += x; return weight; } virtual int sound() { return weight % 2; } };
struct Animal_1 { int weight; int feed(int x) { if (x > 3) weight += x; return weight; } virtual int sound() { return weight % 3; } };
struct Animal_2 { int weight; int feed(int x) { if (x > 6) weight += x; return weight; } virtual int sound() { return weight % 4; } };
struct Animal_3 { int weight; int feed(int x) { if (x > 9) weight += x; return weight; } virtual int sound() { return weight % 5; } };
struct Animal_4 { int weight; int feed(int x) { if (x > 12) weight += x; return weight; } virtual int sound() { return weight % 6; } };
struct Animal_5 { int weight; int feed(int x) { if (x > 15) weight += x; return weight; } virtual int sound() { return weight % 7; } };
struct Animal_6 { int weight; int feed(int x) { if (x > 18) weight += x; return weight; } virtual int sound() { return weight % 8; } };
struct Animal_7 { int weight; int feed(int x) { if (x > 21) weight += x; return weight; } virtual int sound() { return weight % 9; } };
struct Animal_8 { int weight; int feed(int x) { if (x > 24) weight += x; return weight; } virtual int sound() { return weight % 10; } };
struct Animal_9 { int weight; int feed(int x) { if (x > 27) weight += x; return weight; } virtual int sound() { return weight % 11; } };
struct Animal_10 { int weight; int feed(int x) { if (x > 30) weight += x; return weight; } virtual int sound() { return weight % 12; } };
struct Animal_11 { int weight; int feed(int x) { if (x > 33) weight += x; return weight; } virtual int sound() { return weight % 13; } };

typedef int (*Visit)(int);
static Visit visits[] = {
    fn_0, fn_1, fn_2, fn_3, fn_4, fn_5, fn_6, fn_7, fn_8, fn_9, fn_10, fn_11,
    fn_12, fn_13, fn_14, fn_15, fn_16, fn_17, fn_18, fn_19, fn_20, fn_21, fn_22, fn_23,
    fn_24, fn_25, fn_26, fn_27, fn_28, fn_29, fn_30, fn_31, fn_32, fn_33, fn_34, fn_35,
    fn_36, fn_37, fn_38, fn_39, fn_40, fn_41, fn_42, fn_43, fn_44, fn_45, fn_46, fn_47,
    fn_48, fn_49, fn_50, fn_51, fn_52, fn_53, fn_54, fn_55, fn_56, fn_57, fn_58, fn_59,
    fn_60, fn_61, fn_62, fn_63, fn_64, fn_65, fn_66, fn_67, fn_68, fn_69, fn_70, fn_71,
    fn_72, fn_73, fn_74, fn_75, fn_76, fn_77, fn_78, fn_79, fn_80, fn_81, fn_82, fn_83,
    fn_84, fn_85, fn_86, fn_87, fn_88, fn_89, fn_90, fn_91, fn_92, fn_93, fn_94, fn_95,
    fn_96, fn_97, fn_98, fn_99, fn_100, fn_101, fn_102, fn_103, fn_104, fn_105, fn_106, fn_107,
    fn_108, fn_109, fn_110, fn_111, fn_112, fn_113, fn_114, fn_115, fn_116, fn_117, fn_118, fn_119,
    fn_120, fn_121, fn_122, fn_123, fn_124, fn_125, fn_126, fn_127, fn_128, fn_129, fn_130, fn_131,
    fn_132, fn_133, fn_134, fn_135, fn_136, fn_137, fn_138, fn_139, fn_140, fn_141, fn_142, fn_143,
    fn_144, fn_145, fn_146, fn_147, fn_148, fn_149, fn_150, fn_151, fn_152, fn_153, fn_154, fn_155,
    fn_156, fn_157, fn_158, fn_159, fn_160, fn_161, fn_162, fn_163, fn_164, fn_165, fn_166, fn_167,
    fn_168, fn_169, fn_170, fn_171, fn_172, fn_173, fn_174, fn_175, fn_176, fn_177, fn_178, fn_179,
    fn_180, fn_181, fn_182, fn_183, fn_184, fn_185, fn_186, fn_187, fn_188, fn_189, fn_190, fn_191,
    fn_192, fn_193, fn_194, fn_195, fn_196, fn_197, fn_198, fn_199, fn_200, fn_201, fn_202, fn_203,
    fn_204, fn_205, fn_206, fn_207, fn_208, fn_209, fn_210, fn_211, fn_212, fn_213, fn_214, fn_215,
    fn_216, fn_217, fn_218, fn_219, fn_220, fn_221, fn_222, fn_223, fn_224, fn_225, fn_226, fn_227,
    fn_228, fn_229, fn_230, fn_231, fn_232, fn_233, fn_234, fn_235, fn_236, fn_237, fn_238, fn_239,
};
int meet(int x) {
    switch (x % 3) {
    case 0: { Animal_0 a; a.weight = x; return a.feed(x) + a.sound(); }
    case 1: { Animal_5 a; a.weight = x; return a.feed(1); }
    default: return 0;
    }
}
} // namespace zoo

int main(int count, char **words) {
    FILE *file = fopen(words[count - 1], "r");
    char line[1000];
    if (!file || !fgets(line, sizeof line, file)) return 1;
    int sum = 0;
    for (char *word = strtok(line, " ;\n"); word; word = strtok(nullptr, " ;\n")) {
        int number = atoi(word);
        sum += zoo::visits[number % 240](number) + zoo::meet(number);
    }
    puts(sum == -12345 ? "unsat" : "sat");
    return 0;
}
