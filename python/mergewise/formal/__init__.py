"""The paper, executable: "A Formal Perspective on Byte-Pair Encoding" (Zouhar et al., 2023).

Short pure Python over the standard library, written to be read and trusted rather than to be
fast. Everything else in mergewise is tested against it. Read in this order:

- `merges`: symbols, merges, validity (section 2.2)
- `apply`: applying merges, compression utility, pair counts (sections 2.2, 2.3)
- `greedy`: Algorithms 1 and 2, words, the non-iterative variant (sections 3, 4, appendix B)
- `order`: when two sequences do the same (section 5)
- `exact`: the best sequence by search, Algorithm 3 (section 5)
- `curvature`: σ, σ' and the guarantee (section 3)
- `worst_case`: how bad greedy can be, and how bad it cannot (beyond the paper)
- `bound`: what merges and tokens can save at most (beyond the paper)
- `rings`: what strings that cross make of that (beyond the paper)
- `as_published`: the paper's own wording where it does not hold

docs/theory/ goes through the paper statement by statement.
"""

from mergewise.formal import as_published
from mergewise.formal.apply import (
    Corpus,
    Text,
    Tokens,
    apply,
    apply_one,
    gain,
    pair_counts,
    utility,
    words_of,
)
from mergewise.formal.bound import merge_bound, token_bound
from mergewise.formal.curvature import (
    Curvature,
    curvature,
    guarantee,
    sigma,
    sigma_greedy,
    sigma_greedy_all,
    strings_up_to_renaming,
)
from mergewise.formal.exact import (
    Optimum,
    effective_sequences,
    exact_brute_force,
    exact_guarded,
    optimal_sequences,
)
from mergewise.formal.greedy import (
    best_pairs,
    fast_greedy,
    first_occurrence,
    greedy,
    greedy_sequences,
    is_greedy,
    non_iterative,
    observed_merges,
    smallest_ids,
    split_words,
)
from mergewise.formal.merges import (
    Merge,
    Merges,
    Tree,
    first_invalid,
    is_valid,
    show,
    submerges,
    valid_sequences,
    yield_of,
)
from mergewise.formal.order import (
    are_equivalent,
    commutes,
    conflicts,
    live,
    merge_key,
    normal_form,
)
from mergewise.formal.worst_case import (
    GREEDY_ATTAINS,
    WorstCase,
    flat_guarantee,
    one_text,
    worst_case,
)

__all__ = [
    "GREEDY_ATTAINS",
    "Corpus",
    "Curvature",
    "Merge",
    "Merges",
    "Optimum",
    "Text",
    "Tokens",
    "Tree",
    "WorstCase",
    "apply",
    "apply_one",
    "are_equivalent",
    "as_published",
    "best_pairs",
    "commutes",
    "conflicts",
    "curvature",
    "effective_sequences",
    "exact_brute_force",
    "exact_guarded",
    "fast_greedy",
    "first_invalid",
    "first_occurrence",
    "flat_guarantee",
    "gain",
    "greedy",
    "greedy_sequences",
    "guarantee",
    "is_greedy",
    "is_valid",
    "live",
    "merge_bound",
    "merge_key",
    "non_iterative",
    "normal_form",
    "observed_merges",
    "one_text",
    "optimal_sequences",
    "pair_counts",
    "show",
    "sigma",
    "sigma_greedy",
    "sigma_greedy_all",
    "smallest_ids",
    "split_words",
    "strings_up_to_renaming",
    "submerges",
    "token_bound",
    "utility",
    "valid_sequences",
    "words_of",
    "worst_case",
    "yield_of",
]
