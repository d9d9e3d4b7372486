//! Cases: of any string, a merge list has it among its strings or it has not.

use crate::merges::Id;

/// Some merge lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    /// The strings that they have.
    pub has: Vec<Vec<Id>>,
    /// The strings that they lack.
    pub lacks: Vec<Vec<Id>>,
}

impl Case {
    /// The lists of this case that have a string, and those that lack it.
    pub(super) fn divided_by(&self, string: &[Id]) -> [Self; 2] {
        let (mut with, mut without) = (self.clone(), self.clone());
        with.has.push(string.to_vec());
        without.lacks.push(string.to_vec());
        [with, without]
    }

    /// The cases of a tree, of all lists together. A tree is None, a case that is not divided further;
    /// or a string, followed by the tree of the lists that have it and the tree of those that do not.
    /// None if that is not a tree.
    ///
    /// # Example
    ///
    /// ```
    /// use mergewise::bound::Case;
    ///
    /// let string = vec![0, 1];
    /// let cases = Case::of_tree(&[Some(string.clone()), None, None]).ok_or("no tree")?;
    /// assert_eq!((&cases[0].has, &cases[1].lacks), (&vec![string.clone()], &vec![string.clone()]));
    /// assert_eq!(Case::of_tree(&[Some(string), None]), None);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn of_tree(tree: &[Option<Vec<Id>>]) -> Option<Vec<Self>> {
        let mut cases = Vec::new();
        // The next comes last.
        let mut to_come = vec![Self::default()];
        for node in tree {
            let case = to_come.pop()?;
            match node {
                None => cases.push(case),
                Some(string) => {
                    let [with, without] = case.divided_by(string);
                    to_come.extend([without, with]);
                }
            }
        }
        to_come.is_empty().then_some(cases)
    }
}
