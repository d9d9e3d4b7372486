//! The Python module `mergewise._core`: conversions, error types and waiting, nothing else.

// PyO3 hands arguments over by value, and as many as Python's functions have.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

mod arguments;
mod array;
mod arrow_tables;
mod calls;
mod choice;
mod counter;
mod curvature;
mod decoding;
mod failures;
mod ids;
mod merge_list;
mod optimize;
mod patterns;
mod pipeline;
mod ranks;
mod reader;
mod sequence;
mod session;
mod sources;
mod tables;
mod texts;
mod tokenizer;
mod tokenizer_json;
mod training;
mod vocabulary;
mod waiting;
mod word_counts;
mod writer;

use arguments::{TextArgument, choose, settings, threads};
use merge_list::PyMergeList;
use waiting::{anytime, watched};
use word_counts::PyWordCounts;

use pyo3::prelude::*;

/// The core of mergewise.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{
        array::PyArray,
        arrow_tables::{counts_of_arrow, rows_of_counts},
        calls::PyCalls,
        choice::PyChoice,
        counter::PyCounter,
        curvature::{curvature_units, measure_curvature, measure_sigma, walk_curvature},
        decoding::{PyStreamDecoder, decode_tokens},
        merge_list::PyMergeList,
        optimize::{find_bound, improve_merges, solve_exactly, verify_bound},
        patterns::{check_pattern, class_ranges, named_patterns, other_names_of_patterns},
        pipeline::{PyPipeline, from_oniguruma},
        ranks::PyRanks,
        session::{PySession, PyStreamEncoder},
        sources::{PyDocuments, table_metadata},
        tables::{PyPairs, PyTokens},
        tokenizer::PyTokenizer,
        tokenizer_json::PyTokenizerJson,
        training::{fewest_tokens, train_greedily},
        word_counts::PyWordCounts,
        writer::PyWriter,
    };

    /// Also where the package is imported without being installed.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "what Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
