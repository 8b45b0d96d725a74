"""Ways of asking, each with the plain one known to the grammar."""

PARTS = {
    "HIGH": r"(?:highest|largest|greatest|biggest|maximum|max|top)",
    "LOW": r"(?:lowest|smallest|least|minimum|min|bottom)",
    "MORE": r"(?:higher|larger|greater|bigger|more|longer|lower|smaller|less|fewer|shorter|\w+er|more \w+|less \w+)",
    "THE": r"(?:the |a |an |its |their |all the |all )?",
    "OVER": r"(?:over|across|of|for|among|in)",
    "DATA": r"(?:file|table|data ?set|data|list|sheet|collection)",
    "TOTAL": r"(?:in total|altogether|overall|combined|all in all|all together|taken together)",
    "GET": r"(?:get|go|become|be|rise|climb|reach|gets|grow|run)",
    "NUM": r"([\d.,]+(?: (?:thousand|million|billion))?)",
    "ABOVE": r"(above|over|below|under|more than|less than|greater than|higher than|lower than|at least|at most)",
}
"""What upper-case words in the rules stand for."""

# What is said -> how the grammar says it. A letter in angle brackets stands for any words, `<O>` for one or two plain
# ones; `\\g<NAME>` repeats the bracket that starts with that word. An indented line continues the one above.
WHOLE = r"""
how (long|tall|old|high|deep|big|large|wide|heavy|expensive|far) (?!is |are |was |were |do |does |did )<X> (is|was|are
    |were) -> how \g<long> \g<is> <X>
(what|who|where|when) (?!is |are |was |were |do |does |did )<X> (is|was|are|were) -> \g<what> \g<is> <X>
(?:what|which) (?:rank|place|position|spot) (?:does|did|do) <A> (?:have|hold|take|occupy|get|come|finish)(?: in)?
    (?: (?:among|of|in) <N>)?,? (?:by|in terms of|for|on) <X> -> what is the rank of <A> by <X>
(?:where|how high|how highly) (?:does|did|do) <A> (?:rank|stand|come|place)(?: (?:among|of|in) <N>)?,? (?:by|in terms
     of|for|on) <X> -> what is the rank of <A> by <X>
what (?:is|was) <A>'s (?:rank|place|position)(?: (?:among|of|in) <N>)?,? (?:by|in terms of|for|on) <X> -> what is
     the rank of <A> by <X>
what (?:is|was) the (?:rank|place|position) of <A> (?:among|in) <N>,? (?:by|in terms of|for|on) <X> -> what is the
     rank of <A> by <X>
when did <X> (?:happen|occur|take place) -> what is the date of <X>
how (?:far apart|different) are the HIGH and (?:the )?LOW <X> -> what is the range of <X>
how (?:far apart|different) are the LOW and (?:the )?HIGH <X> -> what is the range of <X>
by how much (?:does|do|did) the HIGH <X> (?:exceed|surpass|beat) the LOW(?: one| value| <X>)? -> what is the range
     of <X>
how much MORE is the HIGH <X> than the LOW(?: one| value| <X>)? -> what is the range of <X>
(?:how wide is|what is the (?:width|extent|size) of) the (?:range|spread|span) of <X> -> what is the range of <X>
(?:what is )?the HIGH <X> minus the LOW(?: one| value| <X>)? -> what is the range of <X>
(?:what is |how (?:big|large|great|wide) is )?the (?:difference|gap|distance|span|spread|interval|range) (?:between
    |from) the HIGH (?:and|to) (?:the )?LOW <X> -> what is the range of <X>
(?:what is |how (?:big|large|great|wide) is )?the (?:difference|gap|distance|span|spread|interval|range) (?:between
    |from) the LOW (?:and|to) (?:the )?HIGH <X> -> what is the range of <X>
how much (?:does|do|did) THE<X> (?:vary|range|spread) -> what is the range of <X>
how (?:high|large|great|big) (?:does|do|did|can|could) THE<X> GET -> what is the highest <X>
how (?:low|small) (?:does|do|did|can|could) THE<X> (?:get|go|fall|drop|sink|become|be) -> what is the lowest <X>
what (?:is|was) THE<X> at (?:its|their|the) (?:highest|peak|maximum|largest|most|top) -> what is the highest <X>
what (?:is|was) THE<X> at (?:its|their|the) (?:lowest|minimum|smallest|least|bottom) -> what is the lowest <X>
what <X> (?:is|was) (?:the )?(HIGH|LOW) -> what is the \g<HIGH> <X>
the (HIGH|LOW|average|mean|median|total) <X> (?:is|was) what -> what is the \g<HIGH> <X>
(?:what is the|the) (?:peak|record high|record) <X> -> what is the highest <X>
on average,? (?:what|how much|how many) (?:is|are|was|were) THE<X> OVER <Y> -> what is the average <X> of <Y>
on average,? how (?:much|many) <X> (?:does|do|did) <Y> have -> what is the average <X> of <Y>
on average,? what <X> (?:does|do|did) <Y> have -> what is the average <X> of <Y>
what <X> (?:does|do|did) (?:the|a|an) (?:average|typical|mean) <Y> have -> what is the average <X> of <Y>s
(?:the|a|an) (?:average|typical|mean) <Y> has what <X> -> what is the average <X> of <Y>s
how (?:much|many) <X> (?:does|do|did) (?:the|a|an) (?:average|typical|mean) <Y> have -> what is the average <X> of
     <Y>s
how (?:much|many) <X> (?:does|do|did) <Y> have on average -> what is the average <X> of <Y>
what <X> (?:does|do|did) <Y> have on average -> what is the average <X> of <Y>
(?:how much|what) (?:is|are|was|were) THE<X> OVER <Y>,? on average -> what is the average <X> of <Y>
averaged (?:over|across) <Y>,? what (?:is|was|are|were) THE<X> -> what is the average <X> of <Y>
(?:if|when) (?:you|we|one) average <X> (?:over|across|of|for) <Y>,? what (?:do|does|would|will|is) (?:you|we|one|it
    |the result)(?: get)? -> what is the average <X> of <Y>
(?:if|when) (?:you|we|one) (?:add up|sum|sum up|total) <X>,? what (?:do|does|would|will|is) (?:you|we|one|it|the
     result)(?: get)? -> what is the total <X>
what (?:does|do|did) <Y> average (?:in|for|on) <X> -> what is the average <X> of <Y>
(?:what|how much) (?:is|was|are|were) THE<X> (?:summed|added up|totalled|totaled) (?:over|across) <Y> -> what is
     the total <X> of <Y>
how much <X> (?:is|are|was|were) there,? TOTAL -> what is the total <X>
(?:all )?<Y> together have (?:what|how much|how many) <X> -> what is the total <X> of <Y>
half of (?:the |all )?<Y> have (?:a |an )?<X> (?:below|under|above|over) (?:what|which) (?:value|number|amount|<X>)
     -> what is the median <X>
by how much (?:does|do|did) the <X> of <A> (?:differ from|exceed|surpass) (?:the <X>|that) of <B> -> what is the
     difference in <X> between <A> and <B>
by how much (?:does|do|did) <A> (?:exceed|surpass|beat|outdo|lead|trail) <B> in <X> -> what is the difference in
     <X> between <A> and <B>
(?:how far apart|how different) are <A> and <B> in (?:terms of )?<X> -> what is the difference in <X> between <A>
     and <B>
(?:by )?how (?:much|far) (?:does|do|did) <A> and <B> differ in (?:terms of )?<X> -> what is the difference in <X>
     between <A> and <B>
(?:what is|how (?:big|large|wide|great) is) the <X> (?:gap|difference) between <A> and <B> -> what is the
     difference in <X> between <A> and <B>
how (?:big|large|wide|great) is the (?:gap|difference) in <X> between <A> and <B> -> what is the difference in <X>
     between <A> and <B>
how much MORE is <A>'s? <X> than <B>'s?(?: <X>)? -> what is the difference in <X> between <A> and <B>
(?:out of|between|of|among) <A> and <B>,? which (?:one |<N> )?(has|is|had|was) <X> -> which \g<has> <X>, <A> or <B>
(?:out of|between|of|among) <A> and <B>,? (?:whose) <X> (?:is|was) (?:the )?(MORE) -> which has the \g<MORE> <X>,
     <A> or <B>
which (has|is|had|was) <X> out of <A> and <B> -> which \g<has> <X>, <A> or <B>
(?:does|do|did) <A> or <B> (?:have|get|show) (?:the |a |an )?(MORE) <X> -> which has the \g<MORE> <X>, <A> or <B>
(?:is|are|was|were) THE<X> (MORE) (?:for|in|at|with|of|on) (?:the )?<A> or (?:for |in |at |with |of |on )?(?:the
     )?<B> -> which has the \g<MORE> <X>, <A> or <B>
whose <X> (?:is|was) (?:the )?(MORE)[,:]? <A> or <B> -> which has the \g<MORE> <X>, <A> or <B>
(?:compare|comparing) <A> (?:and|with|to) <B>[:,]? which (?:one )?(has|is|had|was) <X> -> which \g<has> <X>, <A> or
     <B>
(?:is|was) <A>'s? <X> (MORE) than <B>'s?(?: <X>)? -> is the <X> of <A> \g<MORE> than the <X> of <B>
(?:are|is|was|were) <A> or <B> more (?:common|frequent|numerous|often|popular|prevalent) -> are there more <A> or
     <B>
which (?:one )?(?:is|are|was|were) more (?:common|frequent|numerous|popular|prevalent)[,:]? <A> or <B> -> are there
     more <A> or <B>
which (?:one )?(?:occurs|appears|occur|appear|happens) more (?:often|frequently)[,:]? <A> or <B> -> are there more
     <A> or <B>
which (?:are|is) there more of[,:]? <A> or <B> -> are there more <A> or <B>
(?:does|do|did) <A> or <B> have (more|fewer) <N> -> are there \g<more> <A> or <B> <N>
(?:out of|between|of|among) <A> and <B>,? which has (more|fewer) <N> -> are there \g<more> <A> or <B> <N>
which has (more|fewer) <N>[,:]? <A> or <B> -> are there \g<more> <A> or <B> <N>
(?:does|do|did) <A> outnumber <B> -> are there more <A> than <B>
by how (?:many|much) (?:does|do|did) <A> outnumber <B> -> how many more <A> than <B> are there
(?:what|which) (?:values|options|entries|categories|levels|items) (?:does|do|can|may|could|might) THE<X> (?:take
    |have|contain|include|assume|hold|be)(?: on)? -> list the distinct <X>
(?:what|which) (?:values|options|entries|categories|levels|items) (?:appear|occur|exist|are there|are|are found|are
     used) (?:in|for|of|under) (?:the )?<X>(?: column)? -> list the distinct <X>
(list|name|show|give|enumerate|state|print)(?: me| us)? (?:every|each)(?: single| different| distinct| possible)? <X>
     -> list the distinct <X>
the <X> (is|are|was|were) -> what \g<is> the <X>
(?!which |what |who |how )<X> (?:belongs?|belonged|goes|went|is|was|occurs|occurred)(?: found| held| recorded)? (?:to|in
    |at|for|by|of|on|under) (?:which|what) <N> -> which <N> has <X>
(?:what|which) are (?:all )?(?:of )?the (?:different |possible |distinct |unique |various )*values? (?:of|for|in)
     (?:the )?<X>(?: column)? -> list the distinct <X>
(?:list|name|show|give|give me|enumerate|print|state) (?:all )?(?:of )?(?:the )?(?:different |possible |distinct
     |unique )*values? (?:of|for|in) (?:the )?<X>(?: column)? -> list the distinct <X>
what are (?:all )?(?:of )?the (?:different |possible |distinct |unique |various )*<O> -> list the distinct <O>
how many (?:percent|per cent) of <X> -> what percent of <X>
in (?:percent|per cent|percentage terms),? how many (?:of )?<X> -> what percent of <X>
(?:out )?of (?:all )?(?:the )?<Y>,? (?:what|which) (percentage|percent|share|fraction|proportion) (have|has|are|is
    |were|was|had|do|did|come|belong) <X> -> what \g<percentage> of <Y> \g<have> <X>
how (?:often|many times|frequently) (?:does|do|did) <V> (?:appear|occur|show up|come up)(?: as (?:the |a |an
     )?<X>)? -> how many rows have <X> <V>
how many <X> values? (?:are|is) (?:missing|empty|blank|unknown|not given) -> how many rows have a missing <X>
how many (?:missing|empty|blank|unknown) (?:values|cells|entries|fields) (?:does|do) (?:the )?<X>(?: column)?
     (?:have|contain) -> how many rows have a missing <X>
how many (?:missing values|blanks|gaps|empty cells|nulls|missing entries|holes) (?:are there|are|exist) (?:in|for)
     (?:the )?<X>(?: column)? -> how many rows have a missing <X>
count the (?:missing|empty|blank) (?:values|cells|entries) (?:of|in|for) (?:the )?<X>(?: column)? -> how many rows
     have a missing <X>
how (?:big|large|long) is the DATA(?: in rows)? -> how many rows are there
(?:what is )?the (?:size|length) of the DATA -> how many rows are there
how many (?:lines|rows|records|entries) of data(?: are there| does it have)? -> how many rows are there
how many <N> do we have (?:data|records|information|entries|rows)?(?: on| for| about| of)? -> how many <N> are there
how many of (?:the |all |all the )?<X> -> how many <X>
with how many <X> -> for how many <X>
(?:does|do) (?:the|this) DATA (?:contain|list|have|include|hold|show|mention|know) (?:a|an|any|some) <X> -> is
     there a <X>
(?:can|could) (?:you|we|one) (?:find|see|name) (?:a|an|any) <X> -> is there a <X>
(?:is|are|was|were) THE<X> ever ABOVE <Y> -> is there a row with <X> \g<ABOVE> <Y>
(?:does|do|did) THE<X> ever (?:exceed|surpass|go above|go over|rise above|top) <Y> -> is there a row with <X> above
     <Y>
(?:does|do|did) THE<X> ever (?:fall below|drop below|go below|go under) <Y> -> is there a row with <X> below <Y>
(?:does|do|did) the <X> of any <N> (?:exceed|surpass|go above) <Y> -> is there a <N> with <X> above <Y>
the <X> is (HIGH|LOW) (?:for|in|at|on|with) which <N> -> for which <N> is the <X> \g<HIGH>
most <Y> (have|are|belong to|come from|are from|fall into|are in) which <X> -> which <X> do most <Y> have
(?:in|to|from|under|on|at|into)? ?(?:which|what) <X> (?:do|are|did|were) (?:the )?most <Y>(?: have| belong to|
     belong| come from| in| found)? -> which <X> has the most <Y>
(first|second|third|fourth|fifth|\w+th|\d+(?:st|nd|rd|th)) (?:by|in) <X> is (?:which|what) <N> -> which <N> ranks
     \g<first> by <X>
(?:sorted|ranked|ordered) by <X>(?: in descending order| from highest to lowest| from largest to smallest|
     descending)?,? which <N> (?:is|comes|ranks) (first|second|third|fourth|fifth|\w+th|\d+(?:st|nd|rd|th)) ->
     which <N> ranks \g<first> by <X>
on average,? (?:which|what) <C> has the (HIGH|LOW) <X> -> which <C> has the \g<HIGH> average <X>
(?:which|what) <C> has the (HIGH|LOW) <X>,? on average -> which <C> has the \g<HIGH> average <X>
(?:which|what) <C> has the (?:most|HIGH) <X>,? TOTAL -> which <C> has the highest total <X>
(?:which|what) <C> has the (?:fewest|least|LOW) <X>,? TOTAL -> which <C> has the lowest total <X>
(?:per|by|for each) <C>,? (?:which|what|which one) has the (HIGH|LOW) (average|mean|total|median) <X> -> which <C>
     has the \g<HIGH> \g<average> <X>
(?:adding up|summing up|summing|totalling) (?:the )?<X>,? (?:which|what) <C> (?:is|comes|ranks|leads|wins)(?: first
    | on top| out on top)? -> which <C> has the highest total <X>
by (total|average|mean) <X>,? (?:which|what) <C> (?:is|comes|ranks) (first|second|third|last) -> which <C> ranks
     \g<first> by \g<total> <X>
(?:summed|added up|totalled) (?:over|across) <Y>,? (?:which|what) <C> has the (HIGH|LOW) <X> -> which <C> has the
     \g<HIGH> total <X>
i (?:need|want|am looking for|would like|'d like) the <X> -> what is the <X>
(?:look up|state|fetch|get me|i need to know|determine|report) the <X> (of|for) <A> -> what is the <X> of <A>
what (?:does|do|did) <A> have as (?:its |their |the |a )?<X> -> what is the <X> of <A>
what (?:is|was|are|were) <A>'s? <X>, on average -> what is the average <X> of <A>
how (?:high|large|great|big|low|small|long|heavy|tall|old|fast|many|much) (?:is|are|was|were) the (HIGH|LOW) <X> ->
     what is the \g<HIGH> <X>
what (?:is|was) the (?:upper (?:limit|bound)|ceiling|high point|upper end) (?:of|for) (?:the )?<X> -> what is the
     highest <X>
what (?:is|was) the (?:lower (?:limit|bound)|floor|low point|lower end) (?:of|for) (?:the )?<X> -> what is the
     lowest <X>
what (?:is|was) the (HIGH|LOW) <X> (?:that )?(?:any|a|an|one) <N> (?:has|had|ever had|ever has|reached|shows
    |achieved) -> what is the \g<HIGH> <X>
what (?:is|was) the most <X> (?:that )?(?:any|a|an|one) <N> (?:has|had|ever had|ever has|reached|achieved) -> what
     is the highest <X>
(?:the )?(HIGH|LOW) <X> in the DATA(?: is)? -> what is the \g<HIGH> <X>
what (?:does|do|did) (?:all )?(?:the )?<X> (?:come|add up|amount|sum) (?:up )?to -> what is the total <X>
how much (?:does|do|did) (?:all )?(?:the )?<X> (?:come|add up|amount|sum) (?:up )?to -> what is the total <X>
how (?:much|many) <X> (?:does|do|did) <Y> have (?:together|between them|TOTAL) -> what is the total <X> of <Y>
(?:what|how much) (?:is|was|are|were) THE<X> of <Y> (?:together|put together|TOTAL) -> what is the total <X> of <Y>
(?!which |who |what |how )<X> in total -> what is the total <X>
(?:which|what) <N> (?:beats|tops|exceeds|outdoes|surpasses) (?:all|every)(?: of)?(?: the)?(?: others?| other \w+|
     rest) (?:in|by|for|on) <X> -> which <N> has the highest <X>
(?:which|what) <N> has (?:a |an )?(?:higher|larger|greater|bigger) <X> than (?:any|all|every)(?: of)?(?: the)?(?:
     others?| other \w+| rest| one else)? -> which <N> has the highest <X>
(?:which|what) <N> has (?:a |an )?(?:lower|smaller) <X> than (?:any|all|every)(?: of)?(?: the)?(?: others?| other
     \w+| rest| one else)? -> which <N> has the lowest <X>
(?:which|what) <N> (?:holds|has|owns) the (?:record|top spot|lead|first place) (?:for|in|by) (?:the )?<X> -> which
     <N> has the highest <X>
<X> (?:peaks|peaked|is highest|was highest|tops out) (?:in|for|at|with|on) which <N> -> which <N> has the highest
     <X>
(?:which|what) <C> has more <N> than (?:any|all|every)(?: of)?(?: the)?(?: others?| other \w+| rest)? -> which <C>
     has the most <N>
(?:which|what) <C> has fewer <N> than (?:any|all|every)(?: of)?(?: the)?(?: others?| other \w+| rest)? -> which <C>
     has the fewest <N>
(?:which|what) <C> (?:is|was) home to the (most|fewest) <N> -> which <C> has the \g<most> <N>
(?:which|what) <C> (?:has|had) the (?:highest|largest) (?:count|number)(?: of rows| of entries)? -> which <C> has
     the most rows
(?:which|what) <C> (?:has|had) the (?:lowest|smallest) (?:count|number)(?: of rows| of entries)? -> which <C> has
     the fewest rows
(?:which|what) <C> (?:is|are) (?:the )?(?:largest|biggest|first|top) by (?:the )?(?:number|count) of <N> -> which
     <C> has the most <N>
(?:which|what) <C> (?:is|are) (?:the )?(?:smallest|last) by (?:the )?(?:number|count) of <N> -> which <C> has the
     fewest <N>
(?:which|what) <C> (?:do|does|did|are|is) (?:the )?(?:majority|largest number|bulk) of <N>(?: have| belong to| come
     from| in| from)? -> which <C> has the most <N>
(?:what|which|who)(?: of (?:these|the two))? (?:is|are|was|were) (?:the )?more (?:common|frequent|numerous|popular
    |prevalent)(?: one)?[,:]? <A> or <B> -> are there more <A> or <B>
(?:what|which)(?: of (?:these|the two))? (?:is|are) there (more|fewer)(?: of)?[,:]? <A> or <B> -> are there
     \g<more> <A> or <B>
(?:what|which)(?: of (?:these|the two))? (?:is|are) (?:the )?(?:larger|bigger|greater)(?: group| number| set)?[,:]?
     <A> or <B> -> are there more <A> or <B>
(?:which|what) (?:group|set) (?:is|has) (?:the )?(?:larger|bigger|greater|more members|more)[,:]? <A> or <B> -> are
     there more <A> or <B>
which of <A> and <B> (?:is|are|was|were) (?:the )?more (?:common|frequent|numerous|popular|prevalent)(?: one)? ->
     are there more <A> or <B>
(?:which|what) of <A> and <B> (?:occurs|appears|occur|appear) more often -> are there more <A> or <B>
(?:is|are|was|were) <A> more (?:common|frequent|numerous|popular|prevalent) than <B> -> are there more <A> than <B>
(?:is|are|was|were) <A> less (?:common|frequent|numerous|popular|prevalent) than <B> -> are there fewer <A> than <B>
(?:is|are|was|were) the number of <A> MORE than (?:that|the number) of <B> -> are there more <A> than <B>
(?:which|who) (?:outnumbers|outnumber) (?:the other|whom|which)[,:]? <A> or <B> -> are there more <A> or <B>
(?:does|do) the DATA (?:have|contain|list|show|include) (more|fewer) <A> or (?:more |fewer )?<B> -> are there
     \g<more> <A> or <B>
(?:does|do) the DATA (?:have|contain|list|show|include) (more|fewer) <A> than <B> -> are there \g<more> <A> than <B>
(?:does|do|did) (more|fewer) <N> (have|come from|belong to|are) <A> or <B> -> are there \g<more> <N> with <A> or
     with <B>
(?:is|are|was|were) the number of <X> ABOVE NUM -> are there \g<ABOVE> \g<NUM> <X>
<A> has what <X> -> what is the <X> of <A>
what <X> (?:does|do|did) the DATA (?:give|list|show|report|record|have|state) for <A> -> what is the <X> of <A>
what (?:does|do|did) the DATA (?:say|give|list|show|report|state)(?: is| as| about| for)? the <X> (?:of|for) <A> ->
     what is the <X> of <A>
(?:what|which) <X> (?:goes with|corresponds to|belongs to|is associated with|is recorded for|is given for|is shown
     for) <A> -> what is the <X> of <A>
how (?:does|do|did) <A> (?:score|rate|do|fare|rank) (?:on|in|for) <X> -> what is the <X> of <A>
(?:read off|say|quote|name|tell me) the <X> of <A> -> what is the <X> of <A>
(?:for|of|in) how many <N> do we (?:not know|lack|have no) (?:the |a |an )?<X> -> how many <N> have a missing <X>
(?:for|of|in) how many <N> (?:is|are|was) (?:the )?<X> (?:not (?:known|given|recorded|available|filled in|stated
    |reported|listed)|unavailable|absent|left out|left blank|left empty) -> how many <N> have a missing <X>
how many <N> (?:do not|does not) have (?:a |an |any )?<X> -> how many <N> have no <X>
how many <N> (?:have|has) (?:the |their |its )?<X> (?:missing|empty|blank|unknown) -> how many <N> have a missing
     <X>
(?:on|in) (?:the|a) ranking (?:of <N> )?by <X>,? (?:which|what) <C> (?:is|comes|takes|ranks) (first|second|third
    |fourth|fifth|\w+th|\d+(?:st|nd|rd|th))(?: place)? -> which <C> ranks \g<first> by <X>
(?:which|what) (?:different |distinct |unique |various )?<X> (?:can be found|are found|are used|are mentioned|are
     represented|are present|appear|occur|exist|show up|are recorded|are listed|are known|do we have|are
     available)(?: in (?:the |this )?DATA)? -> list the distinct <X>
(?:which|what) (?:different |distinct |unique |various )?<X> (?:does|do) (?:the|this) DATA (?:contain|list|have
    |mention|include|show|know|record|cover|hold|use) -> list the distinct <X>
(?:list|name|show|give|tell me|show me|give me|enumerate|print) (?:all|every|each|the|all the) (?:different
     |distinct |unique |various )?<X> (?:that|which) (?:occurs?|appears?|exists?|are there|is there|(?:are|is) (?:in
    |used|found|present|mentioned).*) -> list the distinct <X>
(?:list|name|show|give|tell me|show me|give me|enumerate|print) (?:all|the|all the) <X>,? (?:each )?(?:only
     )?(?:just )?(?:once|one time|without (?:repeats|repetition|repetitions|duplicates)) -> list the distinct <X>
(?:give|list|what is|show|give me) the set of (?:all )?(?:different |distinct |unique |possible )?<X> -> list the
     distinct <X>
the (HIGH|LOW) <X> (?:belongs to|belonged to|is found in|occurs in|occurred in|is that of|was in|is in|is held by
    |goes to|was recorded (?:in|for|by)) which <N> -> which <N> has the \g<HIGH> <X>
in terms of <X>,? (?:which|what) <N> (?:comes|is|ranks|leads|was)(?: first| on top| highest| the highest| the
     largest| number one)? -> which <N> has the highest <X>
in terms of <X>,? (?:which|what) <N> (?:comes|is|ranks|was) (?:last|lowest|the lowest|the smallest) -> which <N>
     has the lowest <X>
(?:which|what) <N> has the (HIGH|LOW) value (?:of|for|in) <X> -> which <N> has the \g<HIGH> <X>
<X>: (?:which|what) <N> has the (HIGH|LOW)(?: one)? -> which <N> has the \g<HIGH> <X>
(?:which|what) <N> (?:is|was) (?:the )?(HIGH|LOW) (?:in|by|in terms of|with respect to|as to) <X> -> which <N> has
     the \g<HIGH> <X>
(?:at|in|on|for|with) (?:which|what) <N> (?:does|did|do) (?:the )?<X> (?:peak|culminate|top out|reach its
     (?:highest|peak|maximum)(?: value| point)?) -> which <N> has the highest <X>
(?:in|under|for|on|at|with|from|to) (?:which|what) <C> (?:are|is|were) there (?:the )?(most|fewest) <N> -> which
     <C> has the \g<most> <N>
<N> (?:are|is) most (?:common|frequent|numerous) (?:in|for|under|at|on|with) (?:which|what) <C> -> which <C> has
     the most <N>
(?:which|what) <C> (?:accounts for|makes up|has) the (?:largest|biggest|greatest) (?:share|part|portion|group
    |proportion) of <N> -> which <C> has the most <N>
(?:which|what) <C> (?:accounts for|makes up|has) the (?:smallest|least) (?:share|part|portion|group|proportion) of
     <N> -> which <C> has the fewest <N>
(?:the )?(most|fewest) <N> (?:are|is|were|belong|fall|come|have|occur|lie)(?: in| to| from| under| on| at| into)?
     (?:which|what) <C> -> which <C> has the \g<most> <N>
(?:is|was) the <X> of <A> or (?:the <X> |that )?of <B> (?:the )?(MORE)(?: one)? -> which has the \g<MORE> <X>, <A>
     or <B>
(?:which|what|whose) <X> (?:is|was) (?:the )?(MORE)[,:]? (?:that of )?<A>'s or (?:that of )?<B>'s -> which has the
     \g<MORE> <X>, <A> or <B>
(?:which|what|whose) <X> (?:is|was) (?:the )?(MORE)[,:]? that of <A> or that of <B> -> which has the \g<MORE> <X>,
     <A> or <B>
where (?:is|was) (?:the )?<X> (MORE)[,:]? (?:in|at|for|on) <A> or (?:in |at |for |on )?<B> -> which has the
     \g<MORE> <X>, <A> or <B>
(?:which|what) (?:is|was) (MORE)[,:]? (?:the )?<X> of <A> or (?:the <X> |that )?of <B> -> which has the \g<MORE>
     <X>, <A> or <B>
(?:who|which)(?: one)? (?:is ahead|leads|wins|comes out ahead|is in front) (?:in|on|by) <X>[,:]? <A> or <B> ->
     which has the higher <X>, <A> or <B>
how many <N> (?:are|lie|were|is|sit|come in) ABOVE NUM in (?:terms of )?<X> -> how many <N> have <X> \g<ABOVE>
     \g<NUM>
(?:for|in|on|at) how many <N> (?:does|do|did) (?:the )?<X> (?:exceed|surpass|go above|go over|top|rise above) NUM
     -> how many <N> have <X> above \g<NUM>
(?:for|in|on|at) how many <N> (?:does|do|did) (?:the )?<X> (?:fall below|stay below|stay under|remain below|go
     below|drop below) NUM -> how many <N> have <X> below \g<NUM>
(?:for|in|on|at) how many <N> (?:does|do|did) (?:the )?<X> (?:reach|hit|amount to|come to) (?:at least )?NUM -> how
     many <N> have <X> at least \g<NUM>
(?:the )?<X> is ABOVE NUM (?:for|in|on|at|with) how many <N> -> how many <N> have <X> \g<ABOVE> \g<NUM>
(?:what is |what was )?(?:the )?<X>'s (maximum|minimum|peak|average|mean|median|total|range|sum|highest value
    |lowest value) -> what is the \g<maximum> <X>
up to (?:what|which) (?:value|level|number|amount|figure) (?:does|did) (?:the )?<X> (?:go|rise|reach|range|extend)
     -> what is the highest <X>
"""
"""Rules for whole questions; the first that fits counts."""

INNER = (
    (r"\b(?:(?:together|along) with|as well as|with(?= (?:its|their)))\b", "and"),
    (r"^(?:listing|naming|showing|giving|telling)(?: me)?\b", "list"),
    (r"\b(are|is|were|was) (?:aged? )?(?:under|below) (\d\d)$", r"\1 younger than \2"),
    (r"\b(are|is|were|was) (?:aged? )?(?:over|above) (\d\d)$", r"\1 older than \2"),
    (r"^(?:i(?:'d| would)? (?:want|need|like) (?:to see |to have )?|(?:give|show|make|get)(?: me| us)? )(?:a |the )?"
     r"(?:complete |full )?list of (?:all )?(?:the )?", "list the distinct "),
    (r",? (?:each )?(?:only |just )?(?:once|one time)$|,? without (?:any )?(?:repeat\w*|repetitions?|duplicates)(?: any"
     r"| them)?$", ""),
    (r"\bmore ([\w ]+?) than (?:any|all|every)(?: (?:of )?(?:the )?others?(?: \w+)?| one else)\b", r"the most \1"),
    (r"\b(?:fewer|less) ([\w ]+?) than (?:any|all|every)(?: (?:of )?(?:the )?others?(?: \w+)?| one else)\b",
     r"the fewest \1"),
    (r"\b(highest|largest|greatest|biggest|lowest|smallest) (\w+) count\b", r"\1 number of \2"),
    (r"\bin (?:position|place|rank|spot) (?:number |no\.? )?(\d+)\b", r"in \1th place"),
    (r"\b(?:farthest|furthest|most) (?:to the )?(north|south|east|west)\b", r"\1ernmost"),
    (r"\bbest (\w+ )?time\b", r"lowest \1time"), (r"\bboth ((?:\w+ ){1,3}and)\b", r"\1"),
    (r"\bhow many (?:people|persons|lives) (?:have |had )?(?:died|perished|were killed|were lost|lost their lives)\b",
     "how many deaths were there"),
    (r"\bkilled (?:nobody|no one|no people)\b", "had 0 deaths"),
    (r"\bkilled ((?:more than|less than|fewer than|at least|at most|over|under) [\d,.]+|the most|the fewest) people\b",
     r"had \1 deaths"),
    (r"\b(?:in|during|from|of) the (\d{3})0['’]?s\b", r"between \g<1>0 and \g<1>9"),
    (r"\bhalf an hour\b", "30 minutes"), (r"\ban hour and a half\b", "90 minutes"), (r"\b(took|takes?) part\b", "ran"),
    (r"\btop (\d+|two|three|four|five|six|ten) earners\b", r"\1 highest paid people"),
    (r"\b(?:best|better)[- ]paid\b", "highest paid"), (r"\b(?:worst|least)[- ]paid\b", "lowest paid"),
    (r"^how long (did|does|do) (.+) last$", r"how long is \2"),
    (r"^who (?:has|have) no\b", "which people have no"), (r"\b(?:everyone|everybody)\b", "all people"),
    (r"^is it (?:true|correct|right|the case) that\b", "does"),
    (r"\bis (?:the )?runner-?up (?:in terms of|in|by|for)\b", "has the second highest"),
    (r"\branks (?:number|no\.?|#) ?(?:two|2)\b", "ranks second"),
    (r"\branks (?:number|no\.?|#) ?(?:three|3)\b", "ranks third"),
    (r"\b(?:tops the list|leads(?: the list)?|is (?:number one|no\. ?1|at the top|in first place|in the lead)|"
     r"comes (?:out )?on top|takes first place|is first|comes (?:out )?first|ranks (?:first|highest|at the top))"
     r"(?: when (?:ranked|sorted|ordered|measured))? (?:in terms of|in|by|with|for|on)\b", "ranks first by"),
    (r"\b(?:is at the bottom|comes (?:out )?last|is last|is in last place|takes last place|ranks (?:last|lowest|at the "
     r"bottom))(?: when (?:ranked|sorted|ordered|measured))? (?:in terms of|in|by|with|for|on)\b", "has the lowest"),
    (r"\b(?:is|comes|takes|ranks) (?:in )?(?:the )?(second|third|fourth|fifth|sixth|\d+(?:st|nd|rd|th))(?: place)?"
     r"(?: when (?:ranked|sorted|ordered|measured))? (?:in terms of|in|by|for|on)\b", r"ranks \1 by"),
    (r"\bis (?:number|no\.|#) ?(\d+) (?:in terms of|in|by|for|on)\b", r"ranks \1th by"),
    (r",? ?(?:(?:going|running|counted|starting) )?(?:in )?(?:descending(?: order)?|(?:from )?(?:high|highest|large|la"
     r"rgest|big|biggest|most)(?: values?)? (?:to (?:the )?(?:low|lowest|small|smallest|least)|first|downward))\b", ""),
    (r",? ?(?:in )?(?:ascending(?: order)?|(?:from )?(?:low|lowest|small|smallest|least)(?: values?)? (?:to (?:the )?"
     r"(?:high|highest|large|largest|most)|first|upwards?))\b", " lowest"),
    (r"\bfrom the bottom\b", "lowest"), (r"\bday of (?:the )?week\b", "weekday"), (r"\bw/ ?", "with "),
    (r"\bthan (?:any|all|every)(?: (?:of )?(?:the )?others?(?: ones?)?| one else)?\b(?! \w+s\b)", ""),
    (r"\b(?:over|across) (?:all|every|each|the whole|the entire)\b", "across all"),
    (r"^(?:taking|putting|considering|looking at) (?:all )?(?:the )?[\w ]+ together,? ", ""),
    (r"\bat least one\b", "any"), (r"\bby <?(\w+) count$", r"by number of \1"),
    (r"\bis (?:number|no\.) (two|three|four|five) (?:in terms of|in|by|for)\b", r"ranks \1 by"),
    (r"\bgrand total\b", "total"), (r"\bmiddle value of\b", "median of"), (r"\b(?:typical|usual) (?=\w)", "average "),
    (r"\bwho or what\b", "who"),
    (r"\b(?:appears|occurs|appear|occur|(?:is|are) (?:seen|used|mentioned|listed)|(?:turns|comes|crops) up) (?:the )?"
     r"most$", "appears most often"),
    (r"\b(?:appears|occurs|appear|occur) (?:the )?(?:least|fewest)$", "appears least often"),
    (r"^(.*?)\b(?:portion|fraction|proportion|share) of (.*?),? (?:in|as a) (?:percent|per cent|percentage)\b,?(.*)$",
     r"\1percentage of \2\3"),
    (r"^what (is|are|was|were) (.+?) made (?:of|from|out of)$", r"what \1 the material of \2"),
    (r"\bmost (frequent|common) one\b", r"most \1"), (r"\bthere (?:in )?(?:all|total)$", "there"),
)  # fmt: skip
"""Rules for parts of a question, applied one after the other."""
