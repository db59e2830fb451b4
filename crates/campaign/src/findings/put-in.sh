[ "$(grep -c '^(check-sat' "$script")" -eq 1 ] || untold "the model is another one: osprey replay judges it"
grep -q '^[[:space:]]*(' "$work/out" || untold "it printed no model: osprey replay asks for one"
# What stands behind the answer, without the parentheses around it.
tr -d '\000\r' <"$work/out" | awk '
    answered { text = text $0 "\n" }
    /^sat[ \t]*$/ { answered = 1 }
    END { sub(/^[ \t\n]*\([ \t\n]*(model)?/, "", text); sub(/\)[ \t\n]*$/, "", text); printf "%s", text }
' >"$work/model"
# Definitions in the place of declarations; what the model leaves out stays declared.
awk -v model="$work/model" '
    BEGIN { while ((getline line < model) > 0) definitions = definitions line "\n" }
    /^\(set-logic / { print "(set-logic ALL)"; next }
    /^\(get-/ { next }
    /^\(declare-(const|fun) / && index(definitions, "(define-fun " $2 " ") { next }
    /^\(declare-/ { print; next }
    /^\((assert|check-sat)/ && !put { printf "%s", definitions; put = 1 }
    { print }
' "$script" >"$work/with-model.smt2"
run "$work/with-model.smt2"
holds=$(answer 1)
say "with its model put in: ${holds:-no answer} ($(ended))"
case $holds in
unsat) shows ;;
sat) gone ;;
*) untold "the model is another one than on record: osprey replay judges it" ;;
esac
