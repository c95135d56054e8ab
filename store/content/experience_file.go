package content

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// experienceFile says that the content of an experience names a file, so that the file stays.
type experienceFile struct {
	AccountID    string `db:"account_id"`
	ExperienceID string `db:"experience_id"`
	FileID       string `db:"file_id"`
}

var experienceFileColumns = db.ColumnsOf[experienceFile]("experience_files")

// eachFile calls yield with each file that the content names, and with the field that does.
func (c *ExperienceContent) eachFile(yield func(field, id string)) {
	for i, id := range c.Files {
		yield(fmt.Sprintf("content.files.%d", i), id)
	}
	for i, module := range c.Modules {
		for j, lesson := range module.Lessons {
			if lesson.File != nil {
				yield(fmt.Sprintf("content.modules.%d.lessons.%d.file", i, j), *lesson.File)
			}
		}
	}
}

// FileIDs returns the ids of the files that the content names, each once, in their order.
func (c *ExperienceContent) FileIDs() []string {
	var ids []string
	c.eachFile(func(_, id string) { ids = append(ids, id) })
	slices.Sort(ids)
	return slices.Compact(ids)
}

// checkFiles returns CodeInvalid on their fields for files that do not exist, and if the experience is published for those that are not complete.
// The files are locked, so that they stay as they are until the transaction ends.
func (s *Store) checkFiles(ctx context.Context, u *db.Unit, e *Experience) error {
	ids := e.Content.V.FileIDs()
	if len(ids) == 0 {
		return nil
	}
	condition, arg := s.db.In("id", ids)
	found, err := db.Select[struct {
		ID     string `db:"id"`
		Status string `db:"status"`
	}](ctx, u.Locked(), `SELECT id, status FROM files WHERE account_id = ? AND `+condition+` ORDER BY id`, e.AccountID, arg)
	if err != nil {
		return fmt.Errorf("lock the files of an experience: %w", err)
	}
	status := make(map[string]string, len(found))
	for _, f := range found {
		status[f.ID] = f.Status
	}
	var p core.Problems
	e.Content.V.eachFile(func(field, id string) {
		switch {
		case status[id] == "":
			p.Check(false, field, "There is no such file. Send the id of one of yours.")
		case e.Status == ExperienceStatusPublished:
			p.Check(status[id] == "ready", field, "This file is not complete yet, so that nobody could download it.")
		}
	})
	return p.Err()
}

// insertExperienceFiles stores which files a new experience names.
func (s *Store) insertExperienceFiles(ctx context.Context, u *db.Unit, e *Experience) error {
	ids := e.Content.V.FileIDs()
	rows := make([]experienceFile, len(ids))
	for i, id := range ids {
		rows[i] = experienceFile{e.AccountID, e.ID, id}
	}
	return db.InsertAll(ctx, u, experienceFileColumns, rows)
}

// replaceExperienceFiles checks and stores which files a locked experience names now. One that is archived keeps none of them from being deleted.
func (s *Store) replaceExperienceFiles(ctx context.Context, u *db.Unit, e *Experience) error {
	if e.Status != ExperienceStatusArchived {
		if err := s.checkFiles(ctx, u, e); err != nil {
			return err
		}
	}
	if err := s.dropExperienceFiles(ctx, u, e); err != nil {
		return err
	}
	return s.insertExperienceFiles(ctx, u, e)
}

func (s *Store) dropExperienceFiles(ctx context.Context, u *db.Unit, e *Experience) error {
	if _, err := u.Exec(ctx, `DELETE FROM experience_files WHERE account_id = ? AND experience_id = ?`, e.AccountID, e.ID); err != nil {
		return fmt.Errorf("forget the files of an experience: %w", err)
	}
	return nil
}
